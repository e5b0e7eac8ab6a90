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
import { type SettingsScene, settingsScene } from '../../../test/support/settings.ts'
import { SettingsOnDisk } from './page-settings.ts'

let scene: SettingsScene
let file: string
/** The file as a server writes it. */
let disk: SettingsOnDisk

beforeEach(() => {
  scene = settingsScene()
  onTestFinished(scene.remove)
  file = join(scene.data, 'settings.json')
  disk = new SettingsOnDisk(scene.data)
})

const change = (what: Parameters<SettingsScene['part']['change']>[1]) =>
  scene.part.change(scene.part.view().version, what)
const restarted = (): SettingsScene => settingsScene({ data: scene.data })
/** A file of another's making. */
const edit = (settings: unknown): void =>
  writeFileSync(file, typeof settings === 'string' ? settings : JSON.stringify({ format: 1, settings }))

/** Everything that a settings file can be but one of ours. */
const UNUSABLE: readonly (readonly [string, () => void, RegExp])[] = [
  ['no JSON', () => edit('{ "format": 1, "settings": { "key": "sk-secret'), /it is not valid JSON/],
  ['empty', () => edit(''), /it is not valid JSON/],
  ['of another format', () => edit('{ "format": 2, "settings": {} }'), /format: /],
  ['with a field that we do not know', () => edit({ toolset: 'x' }), /settings: .*toolset/],
  ['with a wrong value', () => edit({ review: 'yes' }), /settings\.review: /],
  ['with a URL that has a login', () => edit({ base_url: 'http://a:b@c/' }), /settings\.base_url: /],
  ['with a deadline out of range', () => disk.write({ review_timeout_ms: 0 }), /review_timeout_ms must/],
  [
    'larger than 1 MB',
    () => {
      edit({})
      truncateSync(file, 1_000_001)
    },
    /it is larger than 1000000 bytes/,
  ],
  [
    'a link',
    () => {
      writeFileSync(join(scene.data, 'elsewhere.json'), '{ "format": 1, "settings": {} }')
      symlinkSync('elsewhere.json', file)
    },
    /it is a symbolic link/,
  ],
  ['a folder', () => mkdirSync(file), /it is not a regular file|a folder is in the way/],
]

describe.each(UNUSABLE)('a file that is %s', (_, make, why) => {
  it('ends the start in one line that says what to do, and does not quote it', () => {
    make()
    expect(restarted).toThrow(/^cannot use .*settings\.json: .+\. Delete it, and set the settings again on the page\.$/)
    expect(restarted).toThrow(why)
    expect(restarted).not.toThrow(/sk-secret/)
  })

  it('changes nothing while the server runs, is not overwritten, and what was there can be put back', () => {
    change({ review: false, gate: true })
    const [before, ours] = [scene.part.view(), readFileSync(file)]
    rmSync(file)
    make()
    const theirs = statSync(file).isDirectory() ? undefined : readFileSync(file)
    expect(scene.part.view()).toEqual({
      ...before,
      problems: [
        {
          message: expect.stringMatching(
            /^settings\.json in your configuration folder cannot be used: .* before it count/,
          ),
        },
      ],
    })
    expect(scene.settings.problem).toMatch(why)
    expect(scene.settings.policy).toEqual({ review: false, gate: true })
    expect(() => change({ review: true })).toThrow(
      expect.objectContaining({ status: 409, code: 'settings_unreadable', details: { file: 'settings.json' } }),
    )
    if (theirs) expect(readFileSync(file)).toEqual(theirs)
    rmSync(file, { recursive: true })
    writeFileSync(file, ours, { mode: 0o600 })
    expect(scene.part.view()).toEqual(before)
    expect(change({ review: true }).settings.review.value).toBe(true)
  })
})

describe('the file while the server runs', () => {
  it('without it the page sets nothing, until the next change writes it again', () => {
    change({ review: false })
    rmSync(file)
    expect(scene.part.view()).toMatchObject({ settings: { review: { source: 'default' } }, problems: [] })
    change({ gate: false })
    expect(restarted().settings.policy).toEqual({ gate: false })
  })

  it('one that was touched, and says the same, keeps its version', () => {
    const { version } = change({ review: false })
    writeFileSync(file, readFileSync(file))
    expect(scene.part.view().version).toBe(version)
  })

  it('those who have to know of a change hear of it', () => {
    let heard = 0
    scene.settings.onChange(() => (heard += 1))
    change({ review: false })
    change({ review: false })
    expect(heard).toBe(1)
  })
})

describe('another process of the user', () => {
  it('follows what a server writes, its key included for the redactor, and is told', () => {
    const other = restarted()
    let heard = 0
    other.settings.onChange(() => (heard += 1))
    change({ review: false, model: 'openai:x', key: 'a-key-of-a-person' })
    expect(other.settings.policy).toEqual({ review: false })
    expect(other.redact.content('a-key-of-a-person')).toBe('[redacted]')
    expect(heard).toBe(1)
  })
})

describe('a file that cannot be written', () => {
  it('changes nothing, says why, and leaves no other file behind', () => {
    change({ review: false })
    const names = readdirSync(scene.data)
    chmodSync(scene.data, 0o500)
    onTestFinished(() => chmodSync(scene.data, 0o700))
    // Root may write anywhere: a folder in the way of the new file stops it, too.
    const inTheWay = `${file}.new-${process.pid}`
    if (process.getuid?.() === 0) mkdirSync(join(inTheWay, 'x'), { recursive: true })
    const refusal = { status: 503, code: 'settings_not_saved', message: expect.stringMatching(/saved: .+\.$/) }
    expect(() => change({ gate: false })).toThrow(expect.objectContaining(refusal))
    expect(scene.part.view().settings).toMatchObject({ review: { value: false }, gate: { source: 'default' } })
    chmodSync(scene.data, 0o700)
    rmSync(inTheWay, { recursive: true, force: true })
    expect(readdirSync(scene.data)).toEqual(names)
    expect(change({ gate: false }).settings.gate).toEqual({ value: false, source: 'page' })
  })
})

describe('a restart', () => {
  it('finds what was saved; nothing is written before the first change', () => {
    expect(existsSync(file)).toBe(false)
    change({ model: 'openai:gpt-5', key: 'a-key-of-a-person', review_timeout_ms: null })
    const { version: _, ...view } = scene.part.view()
    expect(restarted().part.view()).toMatchObject(view)
    expect(restarted().redact.content('a-key-of-a-person')).toBe('[redacted]')
  })

  it('takes the right to read it from others', () => {
    change({ review: false })
    chmodSync(file, 0o644)
    restarted()
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })
})
