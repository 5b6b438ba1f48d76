"""A deployment under policy: `python examples/deployment.py`.

A flag is set at once; deploying always asks; deleting an environment asks although its tool is low tier, for
the op is destructive. Denied with `onDeny: skip`, the run goes on.
"""

import asyncio
import tempfile
from typing import Any

from condor import Condor, HitlTier, PolicyClass, Principal, ToolContext, tool

CLUSTER = {"staging": "v1", "old": "v0"}
FLAGS = set[str]()
KIM = Principal(id="kim", roles=frozenset({"developer"}), display="Kim")
OLA = Principal(id="ola", roles=frozenset({"releaser"}), display="Ola")


@tool("flag.set", title="Set a flag", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW)
async def set_flag(ctx: ToolContext, flag: str) -> None:
    FLAGS.add(flag)


@tool("deploy.run", title="Deploy", policy_class=PolicyClass.EXEC, approver_roles={"releaser"})
async def deploy(ctx: ToolContext, environment: str, version: str) -> None:
    CLUSTER[environment] = version


OPS = {"create", "delete"}


@tool("env.manage", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, ops=OPS, op_arg="op")
async def manage(ctx: ToolContext, op: str, environment: str) -> None:
    CLUSTER.pop(environment) if op == "delete" else CLUSTER.setdefault(environment, "none")


def step(name: str, tool_name: str, **args: str) -> dict[str, Any]:
    return {"id": name, "tool": tool_name, "args": args, "onDeny": "skip"}


async def main() -> None:
    flag = step("flag", "flag.set", flag="new-menu")
    roll = step("roll", "deploy.run", environment="staging", version="v2")
    clean = step("clean", "env.manage", op="delete", environment="old")
    async with Condor(tools=[set_flag, deploy, manage], home=tempfile.mkdtemp()) as condor:
        run = await condor.start(plan={"steps": [flag, roll, clean]}, principal=KIM, autonomy="autonomous")
        parked: Any = await condor.wait(run.id)
        for card in parked["suspensions"]:
            print(f"{card['headline']}: {card['policy']['ruleId']} {card['policy']['promotions']}")
            answer = {"approved": card["stepId"] == "roll", "reason": "not today"}
            await condor.resume(run.id, card["suspendId"], answer, principal=OLA)
        print((await condor.wait(run.id))["closing"])
        print("audit:", [verdict.message async for verdict in condor.verify()])


if __name__ == "__main__":
    asyncio.run(main())
