"""Who may do what in a graph: rights by subject, as events give and take them.

Who has none left is still known: else a graph would open to everybody with the last right that is taken.
"""

from __future__ import annotations

from state.events.events import AccessGranted, AccessRevoked

Access = dict[str, list[str]]  # subject → rights, sorted


def grant(access: Access, event: AccessGranted) -> bool:
    """Give rights; tell whether any was new."""
    had = access.get(event.subject, [])
    access[event.subject] = sorted({*had, *event.rights})
    return len(access[event.subject]) > len(had)


def revoke(access: Access, event: AccessRevoked) -> bool:
    """Take rights away; tell whether the subject had any of them."""
    if event.subject not in access:
        return False
    had = access[event.subject]
    access[event.subject] = [right for right in had if right not in event.rights]
    return len(access[event.subject]) < len(had)
