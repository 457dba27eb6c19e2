"""A chat bot that remembers: with a model behind OpenAI's API, or without one.

python examples/bot.py ada
OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_MODEL=llama3.2 python examples/bot.py ada
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request

from emgas import Memory


def answer(question: str, context: str) -> str:
    """Ask the model, with what the memory knows; without a model, return what the memory knows."""
    url = os.environ.get("OPENAI_BASE_URL")
    if url is None:
        return (
            context or "I do not remember anything about that." if question.endswith("?") else "I will remember that."
        )
    system = f"Answer briefly. Messages that the user wrote earlier:\n{context}"
    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    body = json.dumps({"model": os.environ.get("OPENAI_MODEL", ""), "messages": messages}).encode()
    key = os.environ.get("OPENAI_API_KEY", "none")
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    request = urllib.request.Request(f"{url}/chat/completions", body, headers)  # noqa: S310 - the user's own address
    with urllib.request.urlopen(request) as reply:  # noqa: S310
        return str(json.load(reply)["choices"][0]["message"]["content"])


def main() -> None:
    """Answer each line of stdin, and remember it."""
    user = sys.argv[1]
    with Memory(graph=user) as memory:
        for line in sys.stdin:
            if text := line.strip():
                print(answer(text, memory.search(text, asker=user).context), flush=True)
                memory.add(text, speaker=user)


if __name__ == "__main__":
    main()
