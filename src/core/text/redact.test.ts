import { describe, expect, it } from 'vitest'
import { learningRedactor, redactor } from './redact.ts'

const KEY = 'the-configured-key-of-the-model'
const redact = redactor({ known: [KEY, 'p@ss/word "1"', 'short'], suspected: ['my-project-4711'] })

describe('an error', () => {
  it.each([
    ['as it is', `key ${KEY}!`],
    ['twice', `${KEY}${KEY}`],
    ['in JSON', JSON.stringify({ header: `x ${KEY}` })],
    ['in JSON, with quotes', JSON.stringify({ said: 'p@ss/word "1"' })],
    ['in a URL', `https://x.test/?q=${encodeURIComponent('p@ss/word "1"')}`],
    ['a setting', 'no project my-project-4711'],
  ])('[TR38] has no configured secret: %s', (_, text) => {
    const clean = redact.error(text)
    expect(clean).toContain('[redacted]')
    expect(clean).not.toMatch(/configured-key|ss\/word|ss%2Fword|4711/)
  })

  it.each([
    ['Authorization: Bearer abcdefgh', 'Authorization: Bearer [redacted]'],
    ['authorization: bearer a1b2c3d4e5', 'authorization: bearer [redacted]'],
    ['got Basic dXNlcjpwYXNzd29yZA==.', 'got Basic [redacted]'],
    ['Incorrect API key provided: sk-proj-abc_DEF-1234567890.', 'Incorrect API key provided: [redacted].'],
    ['sk-ant-api03-AAAAbbbb1111', '[redacted]'],
    ['remote: ghp_abcdefghijklmnopqrstuvwxyz0123456789', 'remote: [redacted]'],
    ['xoxb-12345678-abcdefgh and AKIAIOSFODNN7EXAMPLE', '[redacted] and [redacted]'],
    ['jwt eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM', 'jwt [redacted]'],
    ['connect postgres://me:hunter2@db.test/plans failed', 'connect postgres://[redacted]@db.test/plans failed'],
    ['{"api_key":"A9f8E7d6"}', '{"api_key":"[redacted]"}'],
    ['x-api-key: 0123456789abcdef0123', 'x-api-key: [redacted]'],
    ['password=hunter2', 'password=[redacted]'],
    ['The token is 9f86d081884c7d659a2feaa0c55ad015', 'The token is [redacted]'],
    ['Incorrect API key provided: Zm9vYmFyYmF6cXV4MTIz', 'Incorrect API key provided: [redacted]'],
    ['got bearer: abcdefgh-ijkl.', 'got bearer: [redacted]'],
    ['Bearer=abcdefgh1234', 'Bearer=[redacted]'],
    ['Bearer "abcdefgh1234"', 'Bearer "[redacted]"'],
    ['q=Bearer%20abcdefgh1234', 'q=Bearer%20[redacted]'],
    ['Authorization: Token abcdefgh1234', 'Authorization: Token [redacted]'],
    ['invalid token 5f0c7d2e-1234-4abc-8def-0123456789ab!', 'invalid token [redacted]!'],
    ['x-api-key: 5f0c7d2e-1234-4abc-8def-0123456789ab', 'x-api-key: [redacted]'],
    ['API key is 5f0c7d2e-1234-4abc-8def-0123456789ab.', 'API key is [redacted].'],
    ['["x-api-key","qWxZpLkMnBvCxZaSdFgHjKlQ"]', '["x-api-key","[redacted]"]'],
    ['The access token qwxzplkmnbvcxzasdfghjklq is invalid', 'The access token [redacted] is invalid'],
    ['token (qWxZpLkMnBvCxZaSdFgHjKlQ) expired', 'token ([redacted]) expired'],
    ['session_id=9f86d081884c7d659a2feaa0c55ad015', 'session_id=[redacted]'],
    ['mcp-session-id: 5f0c7d2e-1234-4abc-8def-0123456789ab', 'mcp-session-id: [redacted]'],
    ['Cookie: theme=dark; s=abc', 'Cookie: [redacted]'],
    ['DB_PASS=hunterhunter', 'DB_PASS=[redacted]'],
    ["{ dbPass: 'hunterhunter' }", "{ dbPass: '[redacted]' }"],
    ['GET /x?sig=ordinarysignature&se=2026', 'GET /x?sig=[redacted]&se=2026'],
    ['x-pin: 1234567890', 'x-pin: [redacted]'],
    ['code: password:hunter22', 'code: password:[redacted]'],
    ['clone https://tokenonly@github.com/x failed', 'clone https://[redacted]@github.com/x failed'],
    ['postgres://u:p@ss@h/db', 'postgres://[redacted]@h/db'],
    ['a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb', 'a\n[redacted]\nb'],
  ])('[TR38] has nothing that is shaped like a secret: %s', (text, clean) => {
    expect(redact.error(text)).toBe(clean)
  })

  it.each([
    'gsk_abcdefghijklmnop1234',
    'xai-abcdefghijklmnop1234567',
    'r8_abcdefghijklmnop1234',
    'dop_v1_abcdef1234567890abcdef',
    'SG.abcdefghijklmnop.qrstuvwxyz',
    'shpat_abcdef1234567890abcdef',
    'lin_api_abcdefghijklmnop1234',
    'ntn_abcdefghijklmnop1234',
    'pplx-abcdefghijklmno',
    'ATATT3xFfGF0abcdefghij',
  ])('[TR38] has no token that says what it is: %s', token => {
    expect(redact.error(`said ${token}.`)).toBe('said [redacted].')
  })

  it.each([
    'Bearer authentication is required.',
    'Basic understanding is missing.',
    'The token has expired; ask for a new token.',
    'Duplicate key: user_profile_settings_v2 in column 12345678',
    'Reduce max_tokens: 128000 tokens are the limit, 200000 were requested.',
    'You can find your API key at https://platform.example.com/account/api-keys.',
    'The key file /etc/ssl/private/server-2026-certificate was not found.',
    'commit 9f86d081884c7d659a2feaa0c55ad0155ad0 is not signed',
    'short is no secret: it is too short',
    'password: required; secret: missing',
    'task-manager-1234567890 and disk-usage-1234567890',
    'Duplicate key: user_profile_2',
    'Invalid token: user_profile_2',
    'Duplicate key: 0198c7f0-1111-7222-8333-444455556666',
    'Key (id)=(0198c7f0-1111-7222-8333-444455556666) already exists.',
    'Task 0198c7f0-1111-7222-8333-444455556666 was not found in session 0198c7f0-1111-7222-8333-444455556666.',
    'The token for task 0198c7f0-1111-7222-8333-444455556666 has expired.',
    'WWW-Authenticate: Bearer resource_metadata="https://x.test/.well-known", error="invalid_token"',
    '{"code":"ERR_HTTP2_STREAM_ERROR","path":["credentials","password"],"required":["token","username"]}',
    'Unexpected token in src/MyComponent2.test.tsx',
    'npm error 404 @modelcontextprotocol/server-github@2025.4.8',
    'ssh://git@github.com/org/repo and git@github.com:org/repo.git',
    'Please pass a valid API key; exit code: 137; the key remoteWindowSizeOfEverything is unknown.',
    'compass=northwest1234567890; hf_hub_download_progress_bars; npm_config_registry_mirrors',
  ])('[TR38] keeps ordinary words: %s', text => {
    expect(redact.error(text)).toBe(text)
    expect(redact.error(redact.error(text))).toBe(text)
  })

  it('[TR39] has no control characters, and is printed on one line', () => {
    const forged = 'down\r\n\u001b[31m{"level":30}\u0007\u009b2J\u202egpj\nMCP server x is fine\ttoo'
    expect(redact.error(forged)).toBe(
      'down\n\\u001b[31m{"level":30}\\u0007\\u009b2J\\u202egpj\nMCP server x is fine\ttoo',
    )
    expect(redact.line(forged)).toBe(
      'down\\n\\u001b[31m{"level":30}\\u0007\\u009b2J\\u202egpj\\nMCP server x is fine\ttoo',
    )
    expect(redact.block('a\nb')).toBe('a\n    b')
  })

  it('[TR38] is cut in the middle, without half a secret at the cut', () => {
    const words = 'x '.repeat(24_990)
    const unknown = 'Ab3'.repeat(20)
    const clean = redact.error(`${words}${unknown} ${'y '.repeat(40_000)}${unknown}${words}`)
    expect(clean).toMatch(/^(?:x )+…(?: ?[xy])+ $/)
  })

  it('[TR38] takes no longer because an attacker wrote it', () => {
    const parts = ['eyJ-', '-eyJ', 'key ', 'key=', 'a.', 'http://a:', 'Bearer ', 'sk-', '-----BEGIN PRIVATE KEY-----']
    const more = [
      'key=a ',
      '"',
      '\\',
      '\\n',
      '%41',
      '&amp;',
      '\n',
      ' ',
      'cookie: ',
      'password=aaaaaa.',
      KEY.slice(0, 9),
      '\u200b',
    ]
    for (const part of [...parts, ...more]) redact.error(part.repeat(2_000_000 / part.length))
  }, 20_000)
})

describe('what is no error', () => {
  it('[TR38] a log entry loses its secrets wherever they are, and stays an entry', () => {
    const entry = {
      level: 40,
      err: { headers: { Authorization: 'x', accept: 'y' }, stack: `a ${KEY}` },
      list: [KEY, null],
    }
    expect(redact.entry(entry)).toEqual({
      level: 40,
      err: { headers: { Authorization: '[redacted]', accept: 'y' }, stack: 'a [redacted]' },
      list: ['[redacted]', null],
    })
  })

  it('[TR38] a log entry keeps what only its name suspects', () => {
    const entry = { err: { code: 'ECONNREFUSED', session: 'c1' }, apiKey: 'x', sessionId: 'b7'.repeat(20) }
    expect(redact.entry(entry)).toEqual({ ...entry, apiKey: '[redacted]', sessionId: '[redacted]' })
  })

  it('[TR38] numbers are secret, too', () => {
    const { entry, content } = redactor({ known: ['1234567890'] })
    expect(content({ pin: 1234567890, at: 1700000000000 })).toEqual({ pin: '[redacted]', at: 1700000000000 })
    expect(entry({ pin: [1234567890, 12] })).toEqual({ pin: ['[redacted]', 12] })
  })

  it('[TR39] what a tool says of itself loses known secrets, and control characters in texts for people', () => {
    const schema = {
      title: 'a\u202eb',
      properties: { description: { type: 'string', description: `\u001b[31m${KEY}\u009b`, enum: ['\n', '\r\n', KEY] } },
      required: ['description'],
    }
    expect(redact.described(schema)).toEqual({
      title: 'a\\u202eb',
      properties: {
        description: {
          type: 'string',
          description: '\\u001b[31m[redacted]\\u009b',
          enum: ['\n', '\r\n', '[redacted]'],
        },
      },
      required: ['description'],
    })
  })

  it('a result loses known secrets only', () => {
    const result = { sha: '9f86d081884c7d659a2feaa0c55ad015', token: 'Bearer abcdefgh1234', project: 'my-project-4711' }
    const text = 'password=hunter2\u001b[0m'
    expect(redact.content({ ...result, [KEY]: [`is ${KEY}`, text, 1] })).toEqual({
      ...result,
      '[redacted]': ['is [redacted]', text, 1],
    })
  })
})

describe('a secret that is learnt', () => {
  it('[SG3] is removed at once, by those that took the redactor before; what was known stays known', () => {
    const learning = learningRedactor({ known: [KEY] })
    const { error, content } = learning
    learning.learn({ known: ['a-key-of-the-page'], suspected: ['my-project-4711'] })
    expect(error(`${KEY} a-key-of-the-page my-project-4711`)).toBe('[redacted] [redacted] [redacted]')
    expect(content({ text: 'a-key-of-the-page my-project-4711' })).toEqual({ text: '[redacted] my-project-4711' })
  })

  it('[SG3] gives way to the newest fifty; the first ones never do', () => {
    const learning = learningRedactor({ known: [KEY] })
    for (let count = 100; count < 200; count += 1) learning.learn({ known: [`a-learnt-key-${count}`] })
    expect(learning.error(`${KEY} a-learnt-key-199 a-learnt-key-150`)).toBe('[redacted] [redacted] [redacted]')
    expect(learning.content('a-learnt-key-149')).toBe('a-learnt-key-149')
  })
})
