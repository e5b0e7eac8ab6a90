import { expect, it } from 'vitest'
import { MAX_MCP_TOKENS, mcpTokens } from '../../bench/mcp-tokens.ts'

it('[MC39] definitions, instructions and a plan of five cost a model at most 600 tokens', async () => {
  const { total } = await mcpTokens('runsheet')
  expect(total).toBeLessThanOrEqual(MAX_MCP_TOKENS)
})
