jq -r '.tool_input.command' | grep -q 'gcloud' && { echo 'use the console' >&2; exit 2; }
exit 0
