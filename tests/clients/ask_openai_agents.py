"""Runs the OpenAI Agents SDK's program of docs/frameworks.md, in `program`, with a model that calls tools as SCRIPT says."""

import asyncio
import json
import os
from typing import Any

import loopback
from agents import Model, ModelResponse, Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from program import ask

SCRIPT = json.loads(os.environ["SCRIPT"])
answers: list[str] = []


class Scripted(Model):
    """Makes one call of the script after the other, then says what the first brought."""

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        items = [] if isinstance(input, str) else input
        answers[:] = [_text(item["output"]) for item in items if item.get("type") == "function_call_output"]
        said: ResponseFunctionToolCall | ResponseOutputMessage
        if len(answers) == len(SCRIPT):
            text = ResponseOutputText(text=answers[0], type="output_text", annotations=[])
            said = ResponseOutputMessage(
                id="message", content=[text], role="assistant", status="completed", type="message"
            )
        else:
            name, arguments = SCRIPT[len(answers)]
            said = ResponseFunctionToolCall(
                name=name, arguments=json.dumps(arguments), call_id=f"call-{len(answers)}", type="function_call"
            )
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        """Not asked for: the program does not stream."""
        raise NotImplementedError


def _text(output: Any) -> str:
    return output if isinstance(output, str) else "".join(part["text"] for part in output)


asyncio.run(ask(Scripted(), "Echo hello."))
print(json.dumps({"answers": answers, "elsewhere": loopback.elsewhere}))
