"""V8 through the C interface of mini-racer: one isolate with one program, and calls that are limited in CPU time.

mini-racer's own timeouts count wall time, which on a busy machine stops work that has hardly begun. Here a call may run
until the process has spent its CPU time, however long that takes. V8 runs one call at a time in one thread, so the process's
CPU time is the call's.

Loading the library takes about 0.2 s of CPU time, a new isolate 7 ms. It reserves 1.4 TB of address space and uses little of
it; 512 MB count as data.
"""

import queue
import time
from dataclasses import dataclass
from typing import Any

from shared.outcome import Unstoppable

GRACE_S = 0.02
"""CPU time that V8 may take to stop at its limit. The compiler of patterns does not check the limit and may take 5 s; a new
process costs less."""

_FLAGS = ("--single-threaded", "--max-heap-size=128")  # MB; the process limits all other memory
_abandoned: list[Any] = []
"""Callbacks that V8 still calls for a program that could not be stopped. They must stay alive."""

_STRING, _FIRST_ERROR = 5, 200  # mini-racer's value types


class LimitReached(Exception):
    """A call was stopped at its limit.

    Attributes:
        cpu_s: CPU time spent.
    """

    def __init__(self, cpu_s: float) -> None:
        super().__init__("the CPU time is spent")
        self.cpu_s = cpu_s


class ScriptError(Exception):
    """The program threw an exception that it should have caught."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The result of a call: a string in UTF-8, and the CPU time spent."""

    text: bytes
    cpu_s: float


class Isolate:
    """A program in V8, for one caller at a time.

    Args:
        program: JavaScript whose value is an object of functions. They take strings and return a string.
    """

    def __init__(self, program: str) -> None:
        from py_mini_racer import init_mini_racer  # takes 0.1 s, only in processes that need it

        self._program = program
        self._dll: Any = init_mini_racer(flags=_FLAGS, ignore_duplicate_init=True)
        self._context: int | None = None

    def call(self, name: str, *arguments: str, limit_s: float) -> Returned:
        """Call a function of the program.

        Args:
            limit_s: seconds of CPU time.

        Raises:
            LimitReached: the call was stopped. The next call starts with a new program.
            ScriptError: the program threw an exception.
            Unstoppable: the call does not stop at its limit. The process must end.
        """
        if self._context is None:
            self._start()
        function = self._function(name)
        array = self._array(arguments)
        began = time.process_time()
        task = self._dll.mr_call_function(self._context, function, self._functions, array, 0)
        result = self._result(began + limit_s)
        if result is None:
            self._dll.mr_cancel_task(self._context, task)
            if self._result(time.process_time() + GRACE_S) is None:
                self._abandon()
                raise Unstoppable
            cpu_s = time.process_time() - began
            # The request to stop may arrive late and stop the next call, so the isolate is discarded.
            self.close()
            raise LimitReached(cpu_s)
        cpu_s = time.process_time() - began
        for value in (function, array):
            self._free(value)
        text = self._text(result)
        if cpu_s > limit_s:
            raise LimitReached(cpu_s)
        return Returned(text, cpu_s)

    def close(self) -> None:
        """Free the isolate's memory. The next call makes a new one."""
        if self._context is not None:
            self._dll.mr_free_context(self._context)
            self._context = None

    def _result(self, until: float) -> Any:
        """V8's result, or None when the process spends its CPU time first."""
        while (left := until - time.process_time()) > 0:
            try:
                return self._results.get(timeout=max(left, 0.001))
            except queue.Empty:
                continue
        return None

    def _start(self) -> None:
        self._results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        put = self._results.put
        self._callback = self._dll.mr_init_context.argtypes[0](lambda _, result: put(result))
        self._context = self._dll.mr_init_context(self._callback)
        try:
            self._functions = self._evaluate(self._program)
        except ScriptError:
            self.close()
            raise

    def _abandon(self) -> None:
        _abandoned.append(self._callback)
        self._context = None

    def _function(self, name: str) -> Any:
        key = self._string(name)
        function = self._dll.mr_get_object_item(self._context, self._functions, key)
        self._free(key)
        return function

    def _array(self, items: tuple[str, ...]) -> Any:
        array = self._evaluate("[]")
        for item in items:
            string = self._string(item)
            self._free(self._dll.mr_array_push(self._context, array, string))
            self._free(string)
        return array

    def _evaluate(self, source: str) -> Any:
        code = self._string(source)
        self._dll.mr_eval(self._context, code, 0)
        result = self._results.get()
        self._free(code)
        if result.contents.type >= _FIRST_ERROR:
            self._text(result)
        return result

    def _string(self, text: str) -> Any:
        content = text.encode()
        return self._dll.mr_alloc_string_val(self._context, content, len(content), _STRING)

    def _text(self, value: Any) -> bytes:
        kind = value.contents.type
        # Only strings and errors have a length. In other values the field is uninitialised memory.
        has_text = kind == _STRING or kind >= _FIRST_ERROR
        text: bytes = value.contents.value.bytes_val[: value.contents.len] if has_text else b"not a string"
        self._free(value)
        if kind != _STRING:
            raise ScriptError(text.decode("utf-8", "replace")[:200])
        return text

    def _free(self, value: Any) -> None:
        self._dll.mr_free_value(self._context, value)
