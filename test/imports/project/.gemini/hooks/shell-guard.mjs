let text = ''
for await (const chunk of process.stdin) text += chunk
const { tool_name, tool_input } = JSON.parse(text)
const isDangerous = tool_name === 'run_shell_command' && /rm\s+-rf|mkfs/.test(tool_input.command)
const answer = isDangerous ? { decision: 'deny', reason: 'dangerous command' } : { decision: 'allow' }
process.stdout.write(JSON.stringify(answer))
