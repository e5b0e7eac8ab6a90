import { expect, it } from 'vitest'
import { secretsOf } from './mcp-tools.ts'

it('[TR38] the secrets of MCP servers are in their variables, arguments, headers and URLs', () => {
  const { known, suspected } = secretsOf({
    near: {
      command: 'server',
      args: ['-y', 'a-package', '--api-key', 'key-1', '--token=token-1', 'postgres://me:password-1@db.test/x'],
      env: { SERVICE_TOKEN: 'token-2', REGION: 'eu-central-1', NODE_ENV: 'production' },
    },
    far: {
      url: 'https://mcp.test/?api_key=key-2',
      headers: { authorization: 'Bearer token-3', 'x-team': 'team-of-ours' },
    },
    bare: { command: 'server' },
  })
  for (const secret of ['key-1', 'token-1', 'password-1', 'token-2', 'key-2', 'token-3'])
    expect(known).toContain(secret)
  for (const value of ['eu-central-1', 'team-of-ours']) expect(suspected).toContain(value)
  for (const value of ['a-package', 'eu-central-1', 'production', 'team-of-ours']) expect(known).not.toContain(value)
})
