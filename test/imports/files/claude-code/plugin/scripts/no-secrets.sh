#!/bin/sh
if jq -r '.tool_input.command' | grep -q 'git commit'; then
  echo 'run the secret scan first' >&2
  exit 2
fi
