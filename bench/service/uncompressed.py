"""`emgas …` that compresses nothing: neither what it sends nor the topics that it creates.

python -m bench.service.uncompressed worker
"""

from __future__ import annotations

from typing import Any, cast

from emgas import wire


def without_compression() -> None:
    """Compress nothing in this process; call it before anything else of EMGAS is imported."""
    cast(Any, wire).COMPRESSION = None
    from streams.transport import topic_plan  # only now: modules take the name when they are imported

    cast(Any, topic_plan).COMPRESSION = "uncompressed"


if __name__ == "__main__":
    without_compression()
    from streams.cli.main import main

    main()
