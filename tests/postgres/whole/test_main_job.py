"""The main job from typed text to the written order, answers, unknown effects, on PostgreSQL."""

from tests.acceptance.test_requests import (
    test_a_no_leaves_the_record_as_it_was as test_a_no_leaves_the_record_as_it_was,
)
from tests.acceptance.test_requests import (
    test_a_parked_run_outlives_its_process as test_a_parked_run_outlives_its_process,
)
from tests.acceptance.test_requests import (
    test_r01_an_overview_reads_and_claims_nothing as test_r01_an_overview_reads_and_claims_nothing,
)
from tests.acceptance.test_requests import (
    test_r03_a_prescription_waits_and_is_written_once as test_r03_a_prescription_waits_and_is_written_once,
)
from tests.acceptance.test_requests import (
    test_r03_denied_writes_nothing_and_says_by_whom as test_r03_denied_writes_nothing_and_says_by_whom,
)
from tests.acceptance.test_requests import ward as ward
from tests.pump.test_answers import (
    test_a_bad_answer_changes_nothing as test_a_bad_answer_changes_nothing,
)
from tests.pump.test_answers import (
    test_a_clock_set_back_revives_nothing as test_a_clock_set_back_revives_nothing,
)
from tests.pump.test_answers import (
    test_a_late_answer_is_refused_and_nothing_runs as test_a_late_answer_is_refused_and_nothing_runs,
)
from tests.pump.test_answers import test_opening_a_home_sweeps_it as test_opening_a_home_sweeps_it
from tests.pump.test_answers import test_the_sweep_aborts_as_the_system as test_the_sweep_aborts_as_the_system
from tests.pump.test_conversations import (
    test_a_conversation_goes_as_written as test_a_conversation_goes_as_written,
)
from tests.pump.test_conversations import (
    test_an_effect_of_unknown_outcome as test_an_effect_of_unknown_outcome,
)
from tests.pump.test_effects import (
    test_a_person_says_that_it_did_not_happen as test_a_person_says_that_it_did_not_happen,
)
