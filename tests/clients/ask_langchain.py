"""Runs LangChain's program of docs/frameworks.md, in `program`, with a model that calls tools as SCRIPT says."""

import asyncio
import json
import os
from typing import Any

import loopback
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from program import ask

SCRIPT = json.loads(os.environ["SCRIPT"])
answers: list[str] = []


class Scripted(BaseChatModel):
    """Makes one call of the script after the other, then says what the first brought."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> "Scripted":
        """They are bound already: the script names them."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        answers[:] = [message.text for message in messages if isinstance(message, ToolMessage)]
        if len(answers) == len(SCRIPT):
            said = AIMessage(answers[0])
        else:
            name, arguments = SCRIPT[len(answers)]
            said = AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{len(answers)}"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


asyncio.run(ask(Scripted(), "Echo hello."))
print(json.dumps({"answers": answers, "elsewhere": loopback.elsewhere}))
