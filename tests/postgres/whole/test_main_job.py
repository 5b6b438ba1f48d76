"""The main job from typed text to the written order, answers, unknown effects, on PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from tests.cli.conftest import shell as shell
from tests.cli.support import REFUND
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

if TYPE_CHECKING:
    from condor.testing.postgres_cluster import PostgresCluster
    from tests.cli.support import Shell


def test_the_commands_work_on_it(shell: Shell, cluster: PostgresCluster) -> None:
    """Start, list, answer, verify, doctor: each command a process of its own, on one database."""
    there = {"CONDOR_DATABASE_URL": cluster.url}
    plan = shell.plan(REFUND)
    assert shell.run("run", "--plan", plan, "--as", "mia", "--json", env=there).code == 3
    assert not (shell.home / "condor.db").exists()
    checks = {check["check"]: check for check in shell.run("doctor", "--json", env=there).json}
    assert "PostgreSQL" in checks["database"]["message"]
    assert (checks["cards"]["message"][:6], checks["audit"]["level"]) == ("1 open", "ok")
    (card,) = shell.run("pending", "--json", env=there).json
    assert shell.run("approve", card["suspendId"], "--as", "mia", env=there).code == 0
    assert shell.run("audit", "verify", env=there).code == 0
    away = {"CONDOR_DATABASE_URL": "postgresql://ann:hunter2@127.0.0.1:1/condor"}
    refused = shell.run("pending", env=away)
    assert refused.code not in (0, 1)
    assert "no PostgreSQL answers at ann@127.0.0.1:1/condor" in refused.err
    assert "hunter2" not in refused.err
