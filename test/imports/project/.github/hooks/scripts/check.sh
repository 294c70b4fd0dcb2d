[ "$MODE" = strict ] && jq -r .toolName | grep -qx bash && { echo "strict mode" >&2; exit 2; }
exit 0
