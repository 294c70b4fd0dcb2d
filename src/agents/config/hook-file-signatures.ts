import type { HookMapSignature } from '../../hook-files/formats/format-signature.ts'
import { claudeCodeEvents } from '../claude-code/events.ts'
import { codexEvents } from '../codex/events.ts'
import { copilotCliEvents } from '../copilot-cli/events.ts'
import { cursorEvents } from '../cursor/events.ts'
import { geminiCliEvents } from '../gemini-cli/events.ts'

/** A format with lists of hooks per event, and the files that usually hold it. */
export interface HookFileSignature extends HookMapSignature {
  /** Decides only between formats that both fit the content. */
  readonly usualFile: RegExp
}

/** Files of different agents look alike, so each row says what its format has and the others have not. */
export const hookFileSignatures: Readonly<Record<string, HookFileSignature>> = {
  'claude-code': {
    layout: 'groups',
    events: Object.keys(claudeCodeEvents),
    topFields: [
      'disableAllHooks',
      'permissions',
      'env',
      'model',
      'statusLine',
      'description',
      'enabledPlugins',
    ],
    groupFields: ['matcher', 'hooks'],
    hookFields: [
      ...['type', 'command', 'args', 'shell', 'async', 'asyncRewake', 'onFailure', 'url', 'headers'],
      ...['allowedEnvVars', 'server', 'tool', 'input', 'prompt', 'model', 'continueOnBlock', 'if', 'timeout'],
      ...['statusMessage', 'once'],
    ],
    needs: 'type',
    needsOneOf: ['command', 'url', 'server', 'prompt'],
    foreignText: /GEMINI_[A-Z_]+|extensionPath/,
    usualFile: /(?:^|[\\/])(?:\.claude[\\/].*|(?<!\.gemini[\\/])(?:managed-)?settings(?:\.local)?\.json)$/,
  },
  codex: {
    layout: 'groups',
    events: Object.keys(codexEvents),
    topFields: ['description'],
    // Codex rejects a file with any other key.
    onlyTopFields: ['description', 'hooks'],
    groupFields: ['matcher', 'hooks'],
    hookFields: [
      ...['type', 'command', 'commandWindows', 'timeout', 'async', 'statusMessage', 'additionalContextLimit'],
      ...['server', 'tool', 'input', 'prompt', 'model'],
    ],
    needs: 'type',
    needsOneOf: ['command', 'commandWindows', 'server', 'prompt'],
    foreignText: /CLAUDE_[A-Z_]+|GEMINI_[A-Z_]+|extensionPath|\.claude\//,
    usualFile: /(?:^|[\\/])\.codex[\\/][^\\/]*$/,
  },
  'gemini-cli': {
    layout: 'groups',
    events: Object.keys(geminiCliEvents),
    notEvents: ['enabled', 'disabled', 'notifications'],
    topFields: ['hooksConfig', 'security', 'general', 'ui', 'tools', 'mcpServers', 'context', 'model'],
    groupFields: ['matcher', 'hooks', 'sequential'],
    hookFields: ['type', 'command', 'name', 'description', 'timeout', 'env'],
    needs: 'type',
    needsOneOf: ['command'],
    foreignText: /CLAUDE_PLUGIN_ROOT|\.claude\//,
    usualFile: /(?:^|[\\/])(?:\.gemini[\\/].*|(?<!\.claude[\\/])settings\.json)$/,
  },
  'copilot-cli': {
    layout: 'flat',
    events: Object.keys(copilotCliEvents),
    topFields: ['version', 'disableAllHooks'],
    hookFields: [
      ...['type', 'bash', 'powershell', 'command', 'exec', 'args', 'cwd', 'env', 'timeoutSec', 'timeout'],
      ...['matcher', 'url', 'headers', 'prompt', 'comment'],
    ],
    needs: 'type',
    needsOneOf: ['bash', 'powershell', 'command', 'exec', 'url', 'prompt'],
    foreignText: /CURSOR_[A-Z_]+|\.cursor\//,
    usualFile: /(?:^|[\\/])(?:\.github|\.copilot)[\\/].*$/,
  },
  cursor: {
    layout: 'flat',
    events: Object.keys(cursorEvents),
    topFields: ['version'],
    hookFields: ['type', 'command', 'prompt', 'model', 'timeout', 'matcher', 'failClosed', 'loop_limit'],
    needsOneOf: ['command', 'prompt'],
    foreignText: /COPILOT_[A-Z_]+|\.github\/hooks/,
    usualFile: /(?:^|[\\/])\.cursor[\\/].*$/,
  },
  openharness: {
    layout: 'flat',
    events: [
      ...['session_start', 'session_end', 'pre_compact', 'post_compact', 'pre_tool_use', 'post_tool_use'],
      ...['user_prompt_submit', 'notification', 'stop', 'subagent_stop'],
    ],
    topFields: ['model', 'permission', 'mcp_servers', 'env'],
    hookFields: [
      ...['type', 'command', 'prompt', 'model', 'url', 'headers', 'timeout_seconds', 'matcher'],
      ...['block_on_failure'],
    ],
    needs: 'type',
    needsOneOf: ['command', 'prompt', 'url'],
    foreignText: /CURSOR_[A-Z_]+|COPILOT_[A-Z_]+|\.cursor\//,
    usualFile: /(?:^|[\\/])\.openharness[\\/].*$/,
  },
}
