"""The filter of system calls, run by a small interpreter of the kernel's BPF: the verdict on every number."""

import ctypes
import errno
import struct

import pytest

from tests.each import each
from workers.confinement import seccomp
from workers.confinement.seccomp import AUDIT_ARCHITECTURE, NUMBERS

MACHINES = sorted(NUMBERS)
PID = 4711
KILL, ALLOW = "kill", "allow"


def verdict(machine: str, number: int, *arguments: int, architecture: int | None = None) -> str:
    """What the filter answers: `kill`, `allow`, or the name of an error."""
    arguments = (*arguments, *(0,) * (6 - len(arguments)))
    arch = AUDIT_ARCHITECTURE[machine] if architecture is None else architecture
    data = struct.pack("=IIQ6Q", number, arch, 0, *arguments)
    code = list(struct.iter_unpack("=HBBI", seccomp.assemble(machine).for_process(PID)))
    at, accumulator = 0, 0
    while True:
        operation, if_true, if_false, operand = code[at]
        at += 1
        match operation:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", data, operand)
            case 0x15:
                at += if_true if accumulator == operand else if_false
            case 0x35:
                at += if_true if accumulator >= operand else if_false
            case 0x45:
                at += if_true if accumulator & operand else if_false
            case 0x06:
                if operand == 0x8000_0000:
                    return KILL
                if operand == 0x7FFF_0000:
                    return ALLOW
                assert operand >> 16 == 0x5
                return errno.errorcode[operand & 0xFFFF]
            case _:
                raise AssertionError(operation)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_verdict_on_every_number(machine: str) -> None:
    """Each named call as its list says, every other number EPERM."""
    numbers = NUMBERS[machine]
    expected = {numbers[name]: ALLOW for name in seccomp.ALLOWED if name in numbers}
    for number, names in seccomp.REFUSED.items():
        expected |= {numbers[name]: errno.errorcode[number] for name in names if name in numbers}
    expected |= {numbers[name]: KILL for name in seccomp.KILLED if name in numbers}
    judged_by_arguments = {numbers[name] for name in ("clone", "tgkill", "fcntl", "prlimit64")}

    for number in set(range(1024)) - judged_by_arguments:
        assert verdict(machine, number) == expected.get(number, "EPERM"), number


@pytest.mark.parametrize("machine", MACHINES)
def test_no_name_is_in_two_lists(machine: str) -> None:
    """The first one would win; and every name has a number somewhere."""
    named = [*seccomp.ALLOWED, *(name for names in seccomp.REFUSED.values() for name in names), *seccomp.KILLED]
    assert len(named) == len(set(named))
    assert set(named) <= {name for numbers in NUMBERS.values() for name in numbers}
    assert len(set(NUMBERS[machine].values())) == len(NUMBERS[machine])


@each("machine", MACHINES)
@each(
    ("name", "arguments", "expected"),
    [
        ("clone", (0x3D0F00,), ALLOW),  # a thread, as glibc starts it
        ("clone", (0x7D0F00,), ALLOW),  # as musl does
        ("clone", (17,), KILL),  # a process
        ("clone", (0x4111,), KILL),  # vfork
        ("clone", (0x3D0F00 | 0x1000_0000,), KILL),  # in a new user namespace
        ("tgkill", (PID, PID, 6), ALLOW),
        ("tgkill", (PID + 1, PID + 1, 6), KILL),
        ("fcntl", (0, 3), ALLOW),
        ("fcntl", (0, 8, 1), "EPERM"),  # F_SETOWN: signals to another process
        ("fcntl", (0, 15, 1), "EPERM"),
        ("prlimit64", (0, 7, 0, 0x7000_0000), ALLOW),
        ("prlimit64", (0, 7, 0x7000_0000, 0), "EPERM"),
        ("prlimit64", (0, 7, 0x7F00_0000_0000, 0), "EPERM"),  # only the upper half of the pointer is set
    ],
)
def test_what_depends_on_arguments(machine: str, name: str, arguments: tuple[int, ...], expected: str) -> None:
    """Threads, signals to itself, descriptors' flags, and the reading of limits."""
    assert verdict(machine, NUMBERS[machine][name], *arguments) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_another_calling_convention_is_killed(machine: str) -> None:
    """32-bit programs and x32 number their calls differently."""
    assert verdict(machine, 1, architecture=0x4000_0003) == KILL
    assert verdict(machine, 0x4000_0000) == KILL
    assert verdict(machine, 0xFFFF_FFFF) == KILL


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_those_of_libseccomp(machine: str) -> None:
    """The second opinion, where it is installed."""
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        pytest.skip("no libseccomp")
    known = {
        name: library.seccomp_syscall_resolve_name_arch(ctypes.c_uint32(AUDIT_ARCHITECTURE[machine]), name.encode())
        for name in NUMBERS[machine]
    }
    unknown_there = -1  # libseccomp is older than the call
    assert {name: number for name, number in known.items() if number != unknown_there}.items() <= NUMBERS[
        machine
    ].items()
