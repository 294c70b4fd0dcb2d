let text = ''
for await (const chunk of process.stdin) text += chunk
const { tool_name, tool_input, hook_event_name } = JSON.parse(text)
if (tool_name === 'Bash' && /git push .*(--force|-f\b)/.test(tool_input.command)) {
  const hookSpecificOutput = {
    hookEventName: hook_event_name,
    permissionDecision: 'deny',
    permissionDecisionReason: 'no forced pushes',
  }
  process.stdout.write(JSON.stringify({ hookSpecificOutput }))
}
