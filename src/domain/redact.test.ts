import { describe, expect, it } from 'vitest'
import { redactor } from './redact.ts'
import { secretsInSettings, secretsInUrl } from './secrets.ts'

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
    ['a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb', 'a\n[redacted]\nb'],
  ])('[TR38] has nothing that is shaped like a secret: %s', (text, clean) => {
    expect(redact.error(text)).toBe(clean)
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
    for (const part of [
      'eyJ-',
      'key ',
      'a.',
      'http://a:',
      'Bearer ',
      'sk-',
      '-----BEGIN PRIVATE KEY-----',
      'key=a ',
      '"',
    ]) {
      redact.error(part.repeat(2_000_000 / part.length))
    }
  }, 5_000)
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

  it('[TR40] a result loses known secrets only', () => {
    const result = { sha: '9f86d081884c7d659a2feaa0c55ad015', token: 'Bearer abcdefgh1234', project: 'my-project-4711' }
    const text = 'password=hunter2\u001b[0m'
    expect(redact.content({ ...result, [KEY]: [`is ${KEY}`, text, 1] })).toEqual({
      ...result,
      '[redacted]': ['is [redacted]', text, 1],
    })
  })
})

describe('secrets', () => {
  it('[TR38] of a URL are its password and what its query names', () => {
    expect(secretsInUrl('postgres://me:p%40ss@db.test/x?password=other&sslmode=require')).toEqual([
      'p%40ss',
      'p@ss',
      'other',
    ])
    expect(secretsInUrl('not a url')).toEqual([])
  })

  it('[TR38] of settings are known by their names; words and paths are none', () => {
    const settings = {
      Authorization: 'Bearer of-the-server',
      GITHUB_PAT_TOKEN: 'plainlywritten',
      DATABASE: 'postgres://me:of-the-database@db.test/x',
      SSH_KEY: '/home/me/.ssh/id_ed25519',
      PROJECT: 'my-project-4711',
      NODE_ENV: 'production',
      ACCEPT: 'application/json, text/event-stream',
    }
    const { known, suspected } = secretsInSettings(settings)
    expect(known).toEqual(
      expect.arrayContaining(['Bearer of-the-server', 'of-the-server', 'plainlywritten', 'of-the-database']),
    )
    expect(known).not.toContain(settings.SSH_KEY)
    expect(suspected).toContain('my-project-4711')
    for (const plain of [settings.SSH_KEY, settings.NODE_ENV, settings.ACCEPT]) expect(suspected).not.toContain(plain)
  })
})
