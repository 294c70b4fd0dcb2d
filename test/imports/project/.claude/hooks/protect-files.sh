#!/bin/sh
file=$(jq -r '.tool_input.file_path // empty')
for name in .env package-lock.json .git/; do
  case "$file" in *"$name"*)
    echo "blocked: $file matches the protected pattern $name" >&2
    exit 2;;
  esac
done
