import { expect, it } from 'vitest'
import { DEFAULT_WAIT_LIMITS, limitsOf, traitsOf } from './hosts.ts'

it.each([
  ['claude-code', false, 540_000],
  ['gemini-cli-mcp-client', false, 540_000],
  ['codex-mcp-client', true, 280_000],
  ['opencode', true, Infinity],
  // Without progress, nothing resets its limit.
  ['opencode', false, 50_000],
  ['qwen-cli-mcp-client-runsheet', true, 50_000],
  ['a host', true, 50_000],
  [undefined, false, 50_000],
])('[MC22] a call of %s, progress %j, is held for %d ms', (client, sendsProgress, holdMs) => {
  expect({ ...DEFAULT_WAIT_LIMITS, ...limitsOf(traitsOf(client), sendsProgress) }.holdMs).toBe(holdMs)
})
