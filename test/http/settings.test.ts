import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { once } from 'node:events'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Environment } from '../../src/cli/environment.ts'
import type { FixedSettings } from '../../src/core/model/settings.ts'
import type { SettingsAnswer, TryAnswer } from '../../src/core/views/wire.ts'
import { type CheckedServer, started } from '../support/checked.ts'
import { Provider } from '../support/provider.ts'
import { type SettingsScene, settingsScene } from '../support/settings.ts'

const KEY = 'sk-a-key-that-nobody-may-see-1234'
const OTHER = 'sk-another-key-of-the-same-person'

let scene: SettingsScene
let server: CheckedServer

async function serve(options: { fixed?: FixedSettings; environment?: Environment } = {}): Promise<void> {
  scene = settingsScene(options)
  const { remove } = scene
  onTestFinished(remove)
  server = await started({ settings: scene.part, redact: scene.redact })
}

const read = async (): Promise<SettingsAnswer> => (await server.ask<SettingsAnswer>('GET', '/api/settings')).body
const patch = async (body: unknown, version?: string) =>
  server.ask<SettingsAnswer>('PATCH', '/api/settings', {
    body,
    headers: { 'if-match': version ?? (await read()).version },
  })
const refused = async (status: number, body: unknown, version?: string) =>
  server.refused(status, 'PATCH', '/api/settings', {
    body,
    headers: { 'if-match': version ?? (await read()).version },
  })
const trial = async (which?: string): Promise<TryAnswer> =>
  (await server.ask<TryAnswer>('POST', '/api/settings/try', { body: which === undefined ? {} : { which } })).body

describe('the settings', () => {
  beforeEach(() => serve())

  it('[SG1] are answered with their sources, and their version as ETag', async () => {
    const { status, body, headers } = await server.ask<SettingsAnswer>('GET', '/api/settings')
    expect(status).toBe(200)
    expect(headers.get('etag')).toBe(`"${body.version}"`)
    expect(body).toMatchObject({
      scope: 'server',
      problems: [],
      settings: {
        model: { value: 'demo', source: 'default' },
        base_url: { value: null },
        key: { is_set: false },
        review: { value: true },
        review_timeout_ms: { value: null },
        gate: { value: true },
      },
    })
  })

  it('[SG5] an agent may neither read, change nor try them', async () => {
    const { version } = await read()
    const headers = { 'if-match': version }
    for (const [method, path] of [
      ['GET', '/api/settings'],
      ['PATCH', '/api/settings'],
      ['POST', '/api/settings/try'],
    ] as const) {
      const body = method === 'GET' ? {} : { body: method === 'PATCH' ? { review: false } : {} }
      const error = await server.refused(403, method, path, { as: 'agent', headers, ...body })
      expect(error.code).toBe('persons_only')
    }
    expect((await read()).version).toBe(version)
    expect(existsSync(join(scene.data, 'settings.json'))).toBe(false)
  })

  it('a change is in a file for its owner only before it is answered, and nothing is left beside it', async () => {
    const before = process.umask(0)
    onTestFinished(() => void process.umask(before))
    const { body } = await patch({ model: 'openai:gpt-5', key: KEY, review_timeout_ms: 60_000 })
    const file = join(scene.data, 'settings.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      format: 1,
      settings: { model: 'openai:gpt-5', key: { value: KEY, endpoint: 'openai' }, review_timeout_ms: 60_000 },
    })
    expect(body.settings).toMatchObject({
      model: { value: 'openai:gpt-5', source: 'page' },
      key: { is_set: true, source: 'page', ends_with: '1234' },
      review_timeout_ms: { value: 60_000, source: 'page' },
    })
    expect(scene.changed).toEqual(['model', 'key', 'review_timeout_ms'])
  })

  it('[SG3] the key is in no answer, refusal or line of the log, whole or in part', async () => {
    const answers = [
      await patch({ model: 'openai:gpt-5', key: KEY }),
      await server.ask('GET', '/api/settings'),
      await patch({ gate: false }),
      await patch({ key: OTHER }, 'an-old-version'),
      await patch({ key: `${OTHER} and a space` }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 412, 422])
    for (const { text } of answers) expect(text).not.toMatch(/sk-a-key|nobody-may|sk-another/)
    expect(server.logged()).not.toMatch(/sk-a-key|sk-another/)
    // Known as they are, not by their shape; also the one that was not saved.
    expect(scene.redact.content(`${KEY} ${OTHER}`)).toBe('[redacted] [redacted]')
  })

  it('[SG3] another base URL erases the key, in the file and in the answer', async () => {
    await patch({ model: 'openai-compatible:m', base_url: 'http://127.0.0.1:9/v1', key: KEY })
    const { body } = await patch({ base_url: 'http://127.0.0.1:9/other' })
    expect(body.settings.key).toEqual({ is_set: false, source: 'default' })
    expect(readFileSync(join(scene.data, 'settings.json'), 'utf8')).not.toContain(KEY)
  })

  it.each([
    [{ model: 'gpt-5' }, 'model'],
    [{ base_url: 'localhost:11434' }, 'base_url'],
    [{ key: 'short' }, 'key'],
    [{ key: 12_345_678 }, 'key'],
    [{ review: 'on' }, 'review'],
    [{ review_timeout_ms: -1 }, 'review_timeout_ms'],
    [{ review_timeout_ms: 1.5 }, 'review_timeout_ms'],
    [{ unset: ['token'] }, 'unset'],
    [{ mcpServers: {} }, 'mcpServers'],
    [{ toolset: 'checklist' }, 'toolset'],
  ])('%j is 422 with the field, and changes nothing', async (body, field) => {
    const { version } = await read()
    expect(await refused(422, body)).toMatchObject({ code: 'invalid_field', field })
    expect((await read()).version).toBe(version)
  })

  it('a change needs the version, and of two windows that save at once one wins', async () => {
    const missing = await server.refused(428, 'PATCH', '/api/settings', { body: { gate: false } })
    expect(missing).toMatchObject({ code: 'version_required', field: 'if-match' })
    const { version } = await read()
    const answers = await Promise.all([patch({ gate: false }, version), patch({ review: false }, version)])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 412]))
    const { settings } = await read()
    expect([settings.gate.value, settings.review.value].filter(value => value)).toHaveLength(1)
    expect((await refused(412, { gate: true }, version)).code).toBe('settings_changed')
    expect((await patch({ gate: true, review: true }, `"${(await read()).version}"`)).status).toBe(200)
  })

  it('the version says nothing about the key', async () => {
    await patch({ model: 'openai:gpt-5', key: KEY })
    const { version } = await read()
    const elsewhere = settingsScene({ data: scene.data })
    expect(elsewhere.settings.version).toBe(version)
    expect(version).toMatch(/^[\w-]{22}$/)
  })

  it('what cannot be used yet is saved, and named with its field', async () => {
    const { body } = await patch({ model: 'openai:gpt-5', assessor_model: 'openai-compatible:judge' })
    expect(body.problems).toEqual([
      { field: 'key', message: 'openai needs a key: enter it in the settings, or set OPENAI_API_KEY.' },
      { field: 'base_url', message: 'openai-compatible needs a URL: enter it in the settings.' },
    ])
  })
})

describe('what is locked', () => {
  it('is shown with who locks it, refused as such, and a login in its URL is not shown', async () => {
    const url = 'http://ann:a-secret-password@127.0.0.1:9/v1'
    await serve({
      fixed: {
        model: { value: 'openai-compatible:m', source: 'flag', by: '--model' },
        base_url: { value: url, source: 'environment', by: 'RUNSHEET_MODEL_URL' },
      },
    })
    scene.redact.learn({ known: ['a-secret-password'] })
    const { settings } = await read()
    expect(settings.model).toEqual({ value: 'openai-compatible:m', source: 'flag', locked_by: '--model' })
    expect(settings.base_url).toMatchObject({ source: 'environment', locked_by: 'RUNSHEET_MODEL_URL' })
    expect(settings.key).toMatchObject({ is_set: false, locked_by: 'RUNSHEET_MODEL_URL' })
    expect(JSON.stringify(settings)).not.toContain('a-secret-password')
    expect(await refused(409, { model: 'demo' })).toMatchObject({
      code: 'setting_locked',
      field: 'model',
      by: '--model',
      message: expect.stringContaining('Start it without --model'),
    })
    expect((await patch({ gate: false })).status).toBe(200)
  })
})

describe('a try', () => {
  it('makes one small call, and says that it worked', async () => {
    await serve()
    const provider = await Provider.start(['OK'])
    onTestFinished(() => provider.close())
    await patch({ model: 'openai-compatible:m', base_url: provider.url, key: KEY })
    expect(await trial()).toMatchObject({ ok: true, model: 'openai-compatible:m' })
    const calls = [...provider.asked, ...provider.judged]
    expect(calls).toHaveLength(1)
    expect(calls[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
    expect(calls[0]?.request).toMatchObject({ model: 'm', max_tokens: 16 })
  })

  /** A provider that answers every request in this way. */
  async function answering(status: number, text: string, headers: Record<string, string> = {}): Promise<string> {
    const there = createServer((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void there.close())
    await once(there, 'listening')
    return `http://127.0.0.1:${(there.address() as AddressInfo).port}/v1`
  }

  it('says what failed, which URL was tried and what to do', async () => {
    await serve()
    await patch({ model: 'openai-compatible:m', base_url: 'http://127.0.0.1:1/v1', key: KEY })
    expect(await trial()).toEqual({
      ok: false,
      model: 'openai-compatible:m',
      code: 'provider_unreachable',
      url: 'http://127.0.0.1:1/v1/chat/completions',
      message: expect.stringContaining('could not be reached at http://127.0.0.1:1/v1/chat/completions'),
      todo: 'Check that the model runs, and that the base URL in the settings is right.',
    })
    const denied = await answering(401, JSON.stringify({ error: { message: `Incorrect API key: ${KEY}` } }))
    await patch({ base_url: denied, key: KEY })
    const refusal = await trial()
    expect(refusal).toMatchObject({ code: 'provider_denied', todo: 'Change the key in the settings.' })
    expect(JSON.stringify(refusal)).not.toContain(KEY)
    const missing = await answering(404, '{"error":{"message":"no such model"}}')
    await patch({ base_url: missing })
    expect(await trial()).toMatchObject({
      code: 'provider_refused',
      message: expect.stringContaining('no such model'),
      todo: expect.stringContaining('often in /v1'),
    })
    await patch({ base_url: await answering(307, '', { location: `${denied}/x?key=1` }) })
    expect(await trial()).toMatchObject({
      ok: false,
      message: expect.stringContaining(`redirects to ${denied}/x. Set`),
    })
  })

  it('names the variable or option to change, where one locks the setting', async () => {
    const url = await answering(401, '{"error":{"message":"no"}}')
    await serve({
      fixed: {
        model: { value: 'openai:gpt-5', source: 'flag', by: '--model' },
        base_url: { value: url, source: 'flag', by: '--model-url' },
        key: { value: KEY, source: 'environment', by: 'RUNSHEET_MODEL_KEY' },
      },
    })
    expect(await trial()).toMatchObject({ code: 'provider_denied', todo: 'Change RUNSHEET_MODEL_KEY of the server.' })
  })

  it('of a model that lacks its key makes no call, and says so', async () => {
    await serve()
    await patch({ assessor_model: 'openai:gpt-5' })
    expect(await trial('assessor_model')).toMatchObject({
      ok: false,
      model: 'openai:gpt-5',
      code: 'model_unknown',
      message: expect.stringContaining('needs a key'),
    })
    expect(await trial()).toMatchObject({ ok: true, model: 'demo' })
  })

  it('is refused after six in a minute, with when to come back', async () => {
    await serve()
    for (let count = 0; count < 6; count += 1) expect(await trial()).toMatchObject({ ok: true })
    const answer = await server.ask('POST', '/api/settings/try', { body: {} })
    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('the client', () => {
  it('reads, changes and tries the settings', async () => {
    await serve()
    const { version } = await server.person.settings()
    const changed = await server.person.changeSettings(version, { gate: false })
    expect(changed.settings.gate).toEqual({ value: false, source: 'page' })
    await expect(server.person.changeSettings(version, { gate: true })).rejects.toMatchObject({
      status: 412,
      code: 'settings_changed',
    })
    expect(await server.person.tryModel()).toMatchObject({ ok: true, model: 'demo' })
    await expect(server.agent.settings()).rejects.toMatchObject({ status: 403, code: 'persons_only' })
  })
})
