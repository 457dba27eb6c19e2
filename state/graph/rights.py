"""Who may do what in a graph, by subject: what grants and revocations leave of it."""

from __future__ import annotations

from state.events.events import AccessGranted, AccessRevoked

Access = dict[str, list[str]]


def granted(access: Access, event: AccessGranted) -> bool:
    """Give rights to a subject; tell whether it has more than before."""
    had = access.get(event.subject, [])
    access[event.subject] = sorted({*had, *event.rights})
    return len(access[event.subject]) > len(had)


def revoked(access: Access, event: AccessRevoked) -> bool:
    """Take rights away; who has none left is still known, so that the graph does not open to everybody."""
    if event.subject not in access:
        return False
    had = access[event.subject]
    access[event.subject] = [right for right in had if right not in event.rights]
    return len(access[event.subject]) < len(had)
