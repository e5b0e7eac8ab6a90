import { describe, expect, it } from 'vitest'
import { isSecretName } from './secret-shapes.ts'
import { secretsInArguments, secretsInHeaders, secretsInUrl, secretsInVariables } from './secrets.ts'

describe('the names of secrets', () => {
  it.each([
    'DB_PASS',
    'dbPass',
    'GITHUB_PAT',
    'x-pin',
    'sig',
    'code',
    'X-Api-Key',
    'SESSION',
    'PGPASSWORD',
    'authToken',
  ])('[TR38] %s is one', name => expect(isSecretName(name)).toBe(true))

  it.each(['PATH', 'COMPASS_URL', 'SPIN', 'AUTHOR_NAME', 'ENCODING', 'SIGNAL', 'NODE_ENV', 'bypass'])(
    '[TR38] %s is none',
    name => expect(isSecretName(name)).toBe(false),
  )
})

describe('secrets in a URL', () => {
  it('[TR38] are its password and what its query names', () => {
    expect(secretsInUrl('postgres://me:p%40ss@db.test/x?password=other&sslmode=require').known).toEqual([
      'p%40ss',
      'p@ss',
      'other',
    ])
    expect(secretsInUrl('not a url')).toEqual({ known: [], suspected: [] })
  })

  it('[TR38] are known as they are written and decoded', () => {
    const { known } = secretsInUrl('https://mcp.test/mcp?api_key=ordinary/secret+sig%21#sig=ordinary%2fsig')
    for (const spelling of ['ordinary/secret+sig%21', 'ordinary/secret+sig!', 'ordinary/secret sig!', 'ordinary%2fsig'])
      expect(known).toContain(spelling)
  })

  it.each([
    ['https://mcp.test/api/mcp/s/AbCdEfGh-secretinpath-xyz/mcp', 'AbCdEfGh-secretinpath-xyz'],
    ['https://mcp.test/t/abcdefsecretpath/v1', 'abcdefsecretpath'],
    ['https://mcp.test/k3y5ecret/sse', 'k3y5ecret'],
    ['https://mcp.test/mcp?u=ordinary-u-secret', 'ordinary-u-secret'],
    ['https://mcp.test/mcp?x=ordinarysecretword', 'ordinarysecretword'],
    ['https://mcp.test/mcp?ordinary-thing', 'ordinary-thing'],
    ['https://ordinaryusertoken@mcp.test/mcp', 'ordinaryusertoken'],
  ])('[TR38] may be in its path, in its query or its name: %s', (url, secret) => {
    const { known, suspected } = secretsInUrl(url)
    expect(suspected).toContain(secret)
    expect(known).not.toContain(secret)
  })

  it.each(['https://ghp_abcdefghijklmnop1234@x.test', 'https://ghp_abcdefghijklmnop1234:x-oauth-basic@x.test'])(
    '[TR38] are known by their form in its name: %s',
    url => expect(secretsInUrl(url).known).toContain('ghp_abcdefghijklmnop1234'),
  )

  it('[TR38] are neither the words of an API, nor versions, nor the name of a database', () => {
    const url = 'https://x.test/openai/deployments/gpt-4o-mini/chat/completions/v1?api-version=2024-10-21-preview'
    expect(secretsInUrl(url)).toEqual({ known: [], suspected: [] })
    expect(secretsInUrl('postgres://postgres@db.test/plans')).toEqual({ known: [], suspected: [] })
  })
})

describe('secrets in variables', () => {
  it('[TR38] are known by their names; words and paths are none', () => {
    const variables = {
      Authorization: 'Bearer of-the-server',
      GITHUB_PAT: 'plainlywritten',
      DB_PASS: 'hunterhunter',
      DATABASE: 'postgres://me:of-the-database@db.test/x',
      SSH_KEY: '/home/me/.ssh/id_ed25519',
      PROJECT: 'my-project-4711',
      NODE_ENV: 'production',
      ACCEPT: 'application/json, text/event-stream',
    }
    const { known, suspected } = secretsInVariables(variables)
    for (const secret of ['Bearer of-the-server', 'of-the-server', 'plainlywritten', 'hunterhunter', 'of-the-database'])
      expect(known).toContain(secret)
    expect(known).not.toContain(variables.SSH_KEY)
    expect(suspected).toContain('my-project-4711')
    for (const plain of [variables.SSH_KEY, variables.NODE_ENV, variables.ACCEPT])
      expect(suspected).not.toContain(plain)
  })

  it.each([
    ['OPENAPI_MCP_HEADERS', '{"Authorization":"Bearer of-the-server","Notion-Version":"2022-06-28"}', 'of-the-server'],
    ['CONNECTION', 'Server=tcp:db.test;User=me;Password=of-the-database;', 'of-the-database'],
    ['API_KEYS', 'of-the-first, of-the-second', 'of-the-second'],
    ['AUTH', `Basic ${btoa('me:of-the-login')}`, 'of-the-login'],
    ['JDBC', 'jdbc:postgresql://me:of-the-database@db.test/x', 'of-the-database'],
    ['CLIENT_OPTIONS', '--verbose --token="of-the-option"', 'of-the-option'],
  ])('[TR38] are found inside of values: %s', (name, value, secret) => {
    expect(secretsInVariables({ [name]: value }).known).toContain(secret)
  })
})

it('[TR38] every header may be secret, but for those of every client', () => {
  const headers = { 'x-team': 'ordinarysecretword', 'x-number': '1234567890', 'x-place': '/opt/secretthing' }
  const ordinary = { 'Content-Type': 'application/json; charset=utf-8', 'User-Agent': 'some-agent/1.0' }
  const { suspected } = secretsInHeaders({
    ...headers,
    ...ordinary,
    'x-client': 'runsheet',
    'x-auth-scheme': 'Own of-ours',
  })
  for (const value of [...Object.values(headers), 'of-ours']) expect(suspected).toContain(value)
  for (const value of [...Object.values(ordinary), 'runsheet']) expect(suspected).not.toContain(value)
})

describe('secrets in arguments', () => {
  it.each([
    ['docker run', ['run', '-i', '-e', 'FIRST=1', '-e', 'GITHUB_TOKEN=of-the-server', 'image']],
    ['docker run, without a space', ['run', '-eGITHUB_TOKEN=of-the-server', 'image']],
    ['mcp-remote', ['https://x.test', '--header', 'Authorization: Bearer of-the-server', '--header', 'x-b: c']],
    ['mcp-remote, without a space', ['https://x.test', '--header', 'Authorization:Bearer of-the-server']],
    ['an option in an option', ['--env=API_KEY=of-the-server']],
    ['an option', ['--api-key', 'of-the-server']],
    ['an option with =', ['--pat=of-the-server']],
    ['JSON', ['--config', '{"nested":{"braveApiKey":"of-the-server"}}']],
    ['a shell', ['-c', 'API_KEY=of-the-server exec server --verbose']],
    ['an option of a shell', ['-c', 'exec server --token of-the-server --verbose']],
    ['a URL', ['postgres://me:of-the-server@db.test/x']],
  ])('[TR38] of %s are known', (_, args) => {
    const { known } = secretsInArguments(args)
    expect(known).toContain('of-the-server')
    for (const other of ['image', 'server', '--verbose', 'https://x.test']) expect(known).not.toContain(other)
  })

  it('[TR38] may be what looks random; packages are not', () => {
    const args = ['-y', '@modelcontextprotocol/server-github@2025.4.8', 'Zm9vYmFyYmF6cXV4MTIz', 'a-package']
    expect(secretsInArguments(args)).toEqual({ known: [], suspected: ['Zm9vYmFyYmF6cXV4MTIz'] })
  })
})
