"""The demonstration record, its staff and its day."""

import gzip
from datetime import date
from importlib.resources import files

import pytest

from condor_hms.demo import DEMO_STAFF, demo_resources, demo_today


def test_the_record_is_complete_and_whole() -> None:
    """1,971 resources, none twice, and no reference that leads nowhere."""
    resources = demo_resources()
    known = {f"{item['resourceType']}/{item['id']}" for item in resources}
    assert len(resources) == len(known) == 1971
    assert sum(item["resourceType"] == "Patient" for item in resources) == 12


def test_the_file_is_deterministic() -> None:
    """No name and no time in the header: the same data is the same file."""
    packed = files("condor_hms.demo").joinpath("data/hms-demo.ndjson.gz").read_bytes()
    assert packed[3:8] == bytes(5)
    assert gzip.decompress(packed).count(b"\n") == 1971


def test_the_staff_is_in_the_record() -> None:
    """Everybody who can log in and act on the record is a Practitioner of it, in the role it has there."""
    roles = {}
    for item in demo_resources():
        if item["resourceType"] == "PractitionerRole" and item["id"].endswith("-role"):
            roles[item["practitioner"]["reference"]] = item["code"][0]["coding"][0]["code"]
    acting = {member.reference: member.role for member in DEMO_STAFF.values() if member.reference}
    assert acting == roles
    assert DEMO_STAFF["dr-okafor"].display == "Dr Amara Okafor"
    assert DEMO_STAFF["dr-okafor"].short == "Dr Okafor"
    assert DEMO_STAFF["rn-castillo"].short == "Nurse Castillo"
    assert DEMO_STAFF["admin"].reference is None
    assert all(name == member.id for name, member in DEMO_STAFF.items())


def test_today_is_a_fixed_day_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demonstration is the same on every day; a wrong date is refused, not ignored."""
    monkeypatch.delenv("CONDOR_DEMO_TODAY", raising=False)
    assert demo_today() == date(2026, 11, 30)
    monkeypatch.setenv("CONDOR_DEMO_TODAY", "2027-01-02")
    assert demo_today() == date(2027, 1, 2)
    monkeypatch.setenv("CONDOR_DEMO_TODAY", "tomorrow")
    with pytest.raises(ValueError, match="give YYYY-MM-DD"):
        demo_today()
