"""The stored names of all concepts of a graph: ids and first forms, each packed into one text."""

from __future__ import annotations

import numpy as np

from state.arrays import Integers, Mask
from state.graph.tables.strings import Places, Strings


class StoredNames:
    """The names of concepts, by ascending key: their rows.

    keys, ids  (k,);  forms: as many, has_form: whether there is one, else it is the id;  is_phrase: (k,)
    """

    def __init__(self, keys: Integers, ids: Strings, forms: Strings, *, has_form: Mask, is_phrase: Mask) -> None:
        self.keys, self.ids, self._forms = keys, ids, forms
        self._has_form, self.is_phrase = has_form, is_phrase
        self.numbers = Places(len(ids), lambda: ids)

    def of(self, keys: Integers) -> StoredNames:
        """Leave out all names but those of ascending keys, which are all there."""
        if np.array_equal(keys, self.keys):
            return self
        at = np.searchsorted(self.keys, keys)
        forms, has_form = self._forms.chosen(at), self._has_form[at]
        return StoredNames(keys, self.ids.chosen(at), forms, has_form=has_form, is_phrase=self.is_phrase[at])

    def first_form(self, number: int) -> str:
        """Return the surface form of a concept that was seen first."""
        return self._forms[number] if self._has_form[number] else self.ids[number]

    def first_forms(self, ids: list[str]) -> list[str]:
        """List the first form of every concept, the same object where it is one of `ids`."""
        listed = ids.copy()
        for number in np.flatnonzero(self._has_form).tolist():
            listed[number] = self._forms[number]
        return listed
