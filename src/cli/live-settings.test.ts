import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type SettingsScene, settingsScene } from '../../test/support/settings.ts'

let scene: SettingsScene
let file: string

beforeEach(() => {
  scene = settingsScene()
  onTestFinished(scene.remove)
  file = join(scene.data, 'settings.json')
})

const change = (what: Parameters<SettingsScene['part']['change']>[1]) =>
  scene.part.change(scene.part.view().version, what)
const restarted = (): SettingsScene => settingsScene({ data: scene.data })
/** A file of another's making. */
const edit = (settings: unknown): void =>
  writeFileSync(file, typeof settings === 'string' ? settings : JSON.stringify({ format: 1, settings }))

/** Everything that a settings file can be but one. */
const UNUSABLE: readonly (readonly [string, () => void, RegExp])[] = [
  ['no JSON', () => edit('{ "format": 1, "settings": { "key": "sk-secret'), /^it is not valid JSON/],
  ['empty', () => edit(''), /^it is not valid JSON/],
  ['of another format', () => edit('{ "format": 2, "settings": {} }'), /^format: /],
  ['with a field that we do not know', () => edit({ toolset: 'x' }), /^settings: .*toolset/],
  ['with a wrong value', () => edit({ review: 'yes' }), /^settings\.review: /],
  ['with a deadline out of range', () => edit({ review_timeout_ms: 0 }), /^review_timeout_ms must be/],
  ['with a URL that has a login', () => edit({ base_url: 'http://a:b@c/' }), /^settings\.base_url: /],
  [
    'larger than 64 kB',
    () => {
      edit({})
      truncateSync(file, 65_537)
    },
    /^it is larger than 65536 bytes/,
  ],
  [
    'a link',
    () => {
      writeFileSync(join(scene.data, 'elsewhere.json'), '{ "format": 1, "settings": {} }')
      symlinkSync('elsewhere.json', file)
    },
    /^it is a symbolic link/,
  ],
  ['a folder', () => mkdirSync(file), /^it is not a regular file|^a folder is in the way/],
]

describe.each(UNUSABLE)('a file that is %s', (_, make, why) => {
  it('[SG9] ends the start in one line that says what to do, and does not quote it', () => {
    make()
    expect(restarted).toThrow(/^cannot use .*settings\.json: .+\. Mend it, or delete it\.$/)
    expect(restarted).not.toThrow(/sk-secret/)
  })

  it('[SG9] changes nothing while the server runs, is never overwritten, and counts again once it is mended', () => {
    change({ review: false })
    const { version } = scene.part.view()
    rmSync(file)
    make()
    const kind = statSync(file).isDirectory() ? undefined : readFileSync(file)
    expect(scene.settings.problem).toMatch(why)
    expect(scene.part.view()).toMatchObject({
      version,
      settings: { review: { value: false, source: 'page' } },
      problems: [{ message: expect.stringMatching(/^settings\.json in the data folder cannot be used: /) }],
    })
    expect(scene.settings.policy).toEqual({ review: false })
    expect(() => change({ review: true })).toThrow(
      expect.objectContaining({ status: 409, code: 'settings_unreadable', details: { file: 'settings.json' } }),
    )
    if (kind) expect(readFileSync(file)).toEqual(kind)
    rmSync(file, { recursive: true })
    edit({ review: true })
    expect(scene.part.view()).toMatchObject({ settings: { review: { value: true } }, problems: [] })
  })
})

describe('a file that another program changes while the server runs', () => {
  it('[SG10] counts from the next request on, and a change that is based on what was before is refused', () => {
    const { version } = scene.part.view()
    edit({ model: 'openai-compatible:m', base_url: 'http://127.0.0.1:1/v1', gate: false })
    expect(() => scene.part.change(version, { review: false })).toThrow(
      expect.objectContaining({ status: 412, code: 'settings_changed' }),
    )
    expect(scene.settings.policy).toEqual({ gate: false })
    expect(scene.models.defaultName).toBe('openai-compatible:m')
    expect(change({ review: false }).settings).toMatchObject({ gate: { value: false }, review: { value: false } })
  })

  it('[SG4][SG10] its key is known to the redactor, and others lose the right to read it', () => {
    edit({ model: 'openai:x', key: { value: 'a-key-from-an-editor', endpoint: 'openai' } })
    chmodSync(file, 0o644)
    expect(scene.part.view().settings.key).toMatchObject({ is_set: true })
    expect(scene.redact.error('a-key-from-an-editor')).toBe('[redacted]')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('[SG10] without a file the page holds nothing', () => {
    change({ review: false })
    rmSync(file)
    expect(scene.part.view().settings.review).toEqual({ value: true, source: 'default' })
  })

  it('[SG12] those who have to know of a change hear of it', () => {
    let heard = 0
    scene.settings.onChange(() => (heard += 1))
    change({ review: false })
    change({ review: false })
    expect(heard).toBe(1)
  })
})

describe('a file that cannot be written', () => {
  it('[SG11] changes nothing, says why, and leaves no other file behind', () => {
    change({ review: false })
    const names = readdirSync(scene.data)
    chmodSync(scene.data, 0o500)
    onTestFinished(() => chmodSync(scene.data, 0o700))
    // Root may write anywhere: a folder in the way of the new file stops it, too.
    const inTheWay = `${file}.new-${process.pid}`
    if (process.getuid?.() === 0) mkdirSync(join(inTheWay, 'x'), { recursive: true })
    expect(() => change({ gate: false })).toThrow(
      expect.objectContaining({
        status: 503,
        code: 'settings_not_saved',
        message: expect.stringMatching(/saved: .+\.$/),
      }),
    )
    expect(scene.part.view().settings).toMatchObject({ review: { value: false }, gate: { source: 'default' } })
    chmodSync(scene.data, 0o700)
    rmSync(inTheWay, { recursive: true, force: true })
    expect(readdirSync(scene.data)).toEqual(names)
    expect(change({ gate: false }).settings.gate).toEqual({ value: false, source: 'page' })
  })
})

it('[SG8] what was saved is there after a restart; nothing is written before the first change', () => {
  expect(existsSync(file)).toBe(false)
  change({ model: 'openai:gpt-5', key: 'a-key-of-a-person', review_timeout_ms: null })
  expect(restarted().part.view()).toEqual(scene.part.view())
  expect(restarted().redact.error('a-key-of-a-person')).toBe('[redacted]')
})
