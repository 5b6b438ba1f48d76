"""The battery of malformed writes: each kind is refused, by the path of the element that was spoiled."""

from __future__ import annotations

import re

import pytest

from condor_hms.fhir.narrative import narrative_fault
from condor_hms.fhir.port import FhirStore, RequestRefused, ValidationRefused
from tests.hms.fhir.battery import KINDS, Kind, create, example
from tests.hms.fhir.battery_more import MORE_KINDS
from tests.hms.fhir.support import bundle, changed, everything, flag, post

ALL_KINDS = (*KINDS, *MORE_KINDS)
SPOILED = sorted({(kind.tool, kind.resource_type) for kind in ALL_KINDS})


def unindexed(path: str) -> str:
    return re.sub(r"\[\d+\]", "", path)


def test_the_battery_is_large_enough() -> None:
    """Every kind is of its own, over the types that are written."""
    assert len({kind.name for kind in ALL_KINDS}) == len(ALL_KINDS) >= 180
    assert len({kind.resource_type for kind in KINDS}) >= 12


@pytest.mark.parametrize(("tool", "resource_type"), SPOILED)
async def test_what_is_spoiled_is_accepted_as_it_stands(
    demo_store: FhirStore, tool: str, resource_type: str
) -> None:
    """So that a refusal can only be for the mistake."""
    await demo_store.transact(create(example(tool, resource_type), resource_type))


@pytest.mark.parametrize("kind", ALL_KINDS, ids=lambda kind: kind.name)
async def test_a_malformed_write_is_refused_by_the_path_of_its_mistake(
    demo_store: FhirStore, kind: Kind
) -> None:
    """The element or a part of it is named, with what to do; nothing is written."""
    before = await everything(demo_store)
    with pytest.raises((ValidationRefused, RequestRefused)) as refused:
        await demo_store.transact(kind.write())
    error = refused.value
    if isinstance(error, RequestRefused):
        named = [unindexed(error.where)]
    else:
        assert isinstance(error, ValidationRefused)
        named = [unindexed(issue.path) for issue in error.issues]
        assert all(issue.message for issue in error.issues)
    hits = [
        path for path in named for wanted in kind.paths if path == wanted or path.startswith(f"{wanted}.")
    ]
    assert hits, (kind.paths, str(refused.value))
    assert await everything(demo_store) == before


async def test_what_belongs_to_nobody_or_to_several_may_be_pointed_at(demo_store: FhirStore) -> None:
    """Only another patient's is refused: staff, places and the shared appointment of two are not."""
    author = flag(author={"reference": "Organization/hms-demo-hospital"})
    await demo_store.transact(bundle(post(author)))
    resource, _ = await changed(demo_store, "Flag/flag-9001")
    own = {
        "reference": "Encounter/"
        + (await demo_store.search("Encounter", {"patient": resource["subject"]["reference"]}))[0]["id"]
    }
    await demo_store.transact(bundle(post(flag(subject=resource["subject"], encounter=own))))


@pytest.mark.parametrize(
    "div",
    [
        "<p>Caf&eacute;&nbsp;<b>5 &lt; 6</b></p><!-- a remark -->",
        '<table><tr><td style="color:red">1</td></tr></table><a href="https://a.b/c">there</a>',
        '<img src="data:image/png;base64,AAAA" alt=""/>',
        '<img src="data:image/jpeg;base64,AAAA" alt=""/><img src="data:image/gif;base64,AAAA" alt=""/>',
        '<a href="#1">here</a><a href="mailto:ward@example.org">write</a><a href="HTTP://a.b:80/c?d=e:f">a</a>',
        '<a href="Patient/1">who</a><a href="c?at=09:30">when</a><a href="/c:d">a</a><img src="//a/c.png"/>',
    ],
)
async def test_a_narrative_that_r4_allows_is_accepted(demo_store: FhirStore, div: str) -> None:
    """Text, tables, links, images, comments and the named characters of HTML."""
    text = {"status": "generated", "div": f'<div xmlns="http://www.w3.org/1999/xhtml">{div}</div>'}
    await demo_store.transact(bundle(post(flag(text=text))))


@pytest.mark.parametrize(
    ("div", "said"),
    [
        ('<div xmlns="http://www.w3.org/1999/xhtml"><p onclick="x()">a</p></div>', "would run something"),
        ('<div xmlns="http://www.w3.org/1999/xhtml"><a href=" JavaScript:x()">a</a></div>', "would run"),
        ('<div xmlns="http://www.w3.org/1999/xhtml"><iframe src="x"/>a</div>', "<iframe> is not allowed"),
        ('<!DOCTYPE d [<!ENTITY a "b">]><div xmlns="http://www.w3.org/1999/xhtml">&a;</div>', "declaration"),
        ("<div><p>a</p></div>", "it must be a div with xmlns"),
        ('<div xmlns="http://www.w3.org/1999/xhtml"> </div>', "it says nothing"),
    ],
)
async def test_a_narrative_that_acts_is_refused(demo_store: FhirStore, div: str, said: str) -> None:
    """Whatever would run, load or expand something in whoever shows it."""
    with pytest.raises(ValidationRefused, match=f"Flag.text.div: .*{said}"):
        await demo_store.transact(bundle(post(flag(text={"status": "generated", "div": div}))))


@pytest.mark.parametrize(
    "part",
    [
        '<a href="java&#9;script:x()">a</a>',
        '<a href="java&#10;script:x()">a</a>',
        '<a href="java&#xAD;script:x()">a</a>',
        '<a href="&#x200B;javascript:x()">a</a>',
        '<a href="&#xA0;vbscript:x">a</a>',
        '<a href="javascript&#58;x()">a</a>',
        '<a href="javascript&nbsp;:x()">a</a>',
        '<a href="data:text/html,x">a</a>',
        '<a href="data:application/xhtml+xml,x">a</a>',
        '<a href="data:image/svg+xml,x">a</a>',
        '<a href="data:image/png;base64,AAAA">a</a>',
        '<img src="data:image/svg+xml,x"/>',
        '<img src="data:image/png+xml,x"/>',
        '<img src="data:text/html,x"/>',
        '<img src="java&#13;script:x()"/>',
        '<a href="file:///etc/passwd">a</a>',
        '<a href="blob:https://a.b/c">a</a>',
        '<a HREF="javascript:x()">a</a>',
        '<a xmlns:x="http://www.w3.org/1999/xlink" x:href="javascript:x()">a</a>',
        '<q cite="javascript:x()">a</q>',
        '<table background="javascript:x()"><tr><td>a</td></tr></table>',
    ],
)
def test_an_address_leads_somewhere_and_runs_nothing(part: str) -> None:
    """However it is written: a closed list of schemes, and pictures that hold nothing but a picture."""
    fault = narrative_fault(f'<div xmlns="http://www.w3.org/1999/xhtml">{part}</div>')
    assert fault is not None
    assert (fault[0], "would run something" in fault[1]) == ("txt-1", True)
