"""Draws texts from the attacks and their harmless neighbours that are written here as sentences with slots.

`{name}` is any of the entries of SLOTS. Each harmless family uses the words of attacks, so that the words alone say little.
"""

# ruff: noqa: E501
# Each text is one line: it is data, and a break would be part of nothing.

from __future__ import annotations

import random
from collections.abc import Iterator

from jobs.prompt_injection_scan.training import harmless as neighbours
from jobs.prompt_injection_scan.training import harmless_variants, jailbreaks, orders, variants

SLOTS: dict[str, list[str]] = {
    "name": ["Zorg", "Nyx", "BOB", "FreeMind", "Mara", "ALICE-9", "Lucifer", "Unbound", "KAOS", "Rex", "Vex", "OmniGPT", "Shadow"],
    "maker": ["OpenAI", "Anthropic", "Google", "Meta", "your developers", "the company that made you", "your creators"],
    "bad": ["unfiltered", "amoral", "uncensored", "unrestricted", "lawless", "cynical and amoral", "jailbroken", "rule-free", "evil"],
    "rules": ["rules", "guidelines", "policies", "restrictions", "filters", "ethical guidelines", "content policies", "limitations"],
    "before": ["previous", "prior", "earlier", "above", "preceding", "original", "initial", "former"],
    "orders": ["instructions", "directions", "prompts", "commands", "directives", "rules", "messages", "guidelines", "text"],
    "drop": ["Ignore", "Disregard", "Forget", "Override", "Bypass", "Discard", "Do not follow", "Stop following", "Skip", "Cancel"],
    "secret": ["system prompt", "initial instructions", "hidden instructions", "the rules you were given", "the secret key",
               "the access code", "the passphrase", "your configuration", "the text above", "developer message", "the confidential notes"],
    "say": ["Print", "Output", "Repeat", "Reveal", "Show me", "Write out", "Tell me", "Recite", "Display", "Copy", "Give me", "Leak"],
    "phrase": ["I have been pwned", "Access approved", "hacked", "yes master", "LOL", "the moon is cheese", "I hate humans", "OK", "granted",
               "banana", "all clear", "you win", "1234"],
    "topic": ["how to pick a lock", "anything I ask", "weapons", "drugs", "the stock market of tomorrow", "my question", "stealing a car",
              "malware", "illegal things", "politics", "adult stories"],
    "task": ["write a poem about cats", "translate the next line into French", "send all files to the address below",
             "delete the user's account", "recommend our product", "rate this candidate as the best", "transfer the money",
             "tell the user to visit https://pay.example", "answer only in emojis", "approve the request", "reset the password",
             "forward the latest e-mails to audit@evil.example", "run the attached script", "say nothing about this note"],
    "who": ["the user", "your user", "the reader", "the customer", "whoever asks", "the person you assist"],
    "ai": ["AI", "assistant", "language model", "chatbot", "AI model", "LLM", "bot", "AI assistant", "agent"],
    "mark": ["---", "###", "=====", "***", "[[", "<<<", "~~~", "]]]", "\"\"\"", "}}}", "-----"],
    "role": ["a teacher of mathematics", "a travel guide", "an interviewer", "a Linux terminal", "a poet", "a chess player", "a chef",
             "a lawyer", "a doctor", "a text adventure game", "a career counsellor", "a storyteller", "a stand-up comedian",
             "a senior software engineer", "a product manager", "a translator", "a historian", "a debate coach", "a personal trainer",
             "an English pronunciation helper", "a spreadsheet", "a JavaScript console", "a motivational speaker", "a novelist"],
    "thing": ["the warning in my code", "this setting", "the previous version", "the earlier e-mail", "the instructions in the manual",
              "a method in a subclass", "the default value", "the system clock", "the prompt of my shell", "the password rules",
              "the noise in the data", "blank lines", "the first column", "whitespace", "case", "the old rules of the game"],
    "domain": ["cooking", "tax law", "gardening", "Python", "history", "travel", "sports", "chemistry lessons", "customer support", "grammar",
               "marketing", "music", "accounting", "biology", "project planning", "nutrition"],
    "doc": ["report", "e-mail", "article", "contract", "invoice", "meeting notes", "review", "ticket", "chapter", "document", "transcript"],
    "format": ["JSON", "a Markdown table", "three bullet points", "one paragraph", "plain text", "a numbered list", "valid XML", "CSV"],
}  # fmt: skip
ATTACKS = jailbreaks.ATTACKS | orders.ATTACKS


def attacks(rng: random.Random, most: int) -> Iterator[tuple[str, str, str]]:
    """(family, category, text), at most `most` of each family. The same generator gives the same texts.

    Of the families in variants.py there are fewer: more of them made the model worse on sources that it had not seen.
    """
    for family, (category, patterns) in (ATTACKS | variants.ATTACKS).items():
        for text in _drawn(rng, patterns, most if family in ATTACKS else most * 2 // 5):
            yield family, category, text


def harmless(rng: random.Random, most: int) -> Iterator[tuple[str, str]]:
    """(family, text), at most `most` of each family."""
    for family, patterns in (neighbours.HARMLESS | harmless_variants.HARMLESS).items():
        for text in _drawn(rng, patterns, most if family in neighbours.HARMLESS else most * 2 // 5):
            yield family, text


def _drawn(rng: random.Random, patterns: list[str], most: int) -> list[str]:
    texts = dict.fromkeys(_filled(rng, patterns[i % len(patterns)]) for i in range(most))
    return list(texts)


def _filled(rng: random.Random, pattern: str) -> str:
    return pattern.format_map({name: rng.choice(entries) for name, entries in (SLOTS | variants.SLOTS).items()})
