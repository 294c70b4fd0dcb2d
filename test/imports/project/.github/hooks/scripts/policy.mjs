let text = ''
for await (const chunk of process.stdin) text += chunk
const { toolName, toolArgs } = JSON.parse(text)
const args = typeof toolArgs === 'string' ? JSON.parse(toolArgs) : toolArgs
if (toolName === 'bash' && args.command.includes('curl'))
  process.stdout.write(
    JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason: 'no downloads' }),
  )
