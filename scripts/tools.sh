# Programs that look at what is pinned, in an environment of their own: what they need is in none of ours.
# Sourced by scripts/audit and scripts/sbom, which stand in the repository's root.
tools=.cache/tools
wanted="pip-audit==2.10.1 cyclonedx-bom==7.5.0"
if [[ "$(cat "$tools/wanted" 2>/dev/null)" != "$wanted" ]]; then
  echo "tools: installing $wanted" >&2
  rm -rf "$tools"
  python3 -m venv "$tools"
  # shellcheck disable=SC2086 # two requirements
  "$tools/bin/pip" install --quiet --disable-pip-version-check $wanted >&2
  echo "$wanted" >"$tools/wanted"
fi
