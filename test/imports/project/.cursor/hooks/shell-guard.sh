input=$(cat)
command=$(printf '%s' "$input" | jq -r '.command // empty')
case "$command" in
  *"git reset --hard"*)
    echo '{"continue":true,"permission":"deny","userMessage":"history is kept","agentMessage":"do not reset"}';;
  *) echo '{"continue":true,"permission":"allow"}';;
esac
