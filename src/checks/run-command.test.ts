import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, realpathSync, renameSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { type CheckScene, checkScene, FOREVER, marked } from '../../test/support/check-scene.ts'
import type { CommandCheck } from '../core/proof/check.ts'
import { redactor } from '../core/text/redact.ts'
import { runCommand, type Watched } from './run-command.ts'

const ADVICE = 'Mend that, or ask a person to change the check.'

const onLinux = process.platform === 'linux'
const redact = redactor()
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const run = (
  scene: CheckScene,
  words: readonly string[],
  { watched = {}, ...options }: Partial<CommandCheck> & { watched?: Partial<Watched> } = {},
) => runCommand({ kind: 'command', run: words, ...options }, scene, { redact, ...watched })

const shell = (scene: CheckScene, script: string, options: Parameters<typeof run>[2] = {}) =>
  run(scene, ['sh', '-c', script], options)

const hanging = (scene: CheckScene, words: readonly string[]) =>
  run(scene, words, { timeout_ms: 300, watched: { limits: { graceMs: 100 } } })

const nothingLeft = (scene: CheckScene) => vi.waitFor(() => expect(marked(scene)).toEqual([]), { timeout: 20_000 })

describe('a command', () => {
  it('passes if it exits with the expected code', async () => {
    const scene = checkScene()
    expect(await shell(scene, 'echo out; echo err >&2')).toEqual({
      result: 'passed',
      exit: 0,
      tail: 'out\nerr\n',
      output_sha256: sha256('out\nerr\n'),
    })
    expect(await shell(scene, 'exit 3')).toMatchObject({ result: 'failed', exit: 3 })
    expect(await shell(scene, 'exit 3', { exit: 3 })).toMatchObject({ result: 'passed', exit: 3 })
    expect(await shell(scene, 'true', { exit: 3 })).toMatchObject({ result: 'failed', exit: 0 })
  })

  it('passes if its output contains the text, wherever it is', async () => {
    const scene = checkScene()
    scene.script('early', 'echo 5 tests; yes | head -c 200000')
    const found = await run(scene, ['./early'], { contains: '5 tests' })
    expect(found).toMatchObject({ result: 'passed' })
    expect(found.tail).not.toContain('5 tests')
    expect(await run(scene, ['./early'], { contains: '6 tests' })).toMatchObject({
      result: 'failed',
      exit: 0,
      reason: 'Its output does not contain "6 tests".',
    })
  })

  it('gets its words as they are, and its folder', async () => {
    const scene = checkScene()
    scene.script('web/show', 'for each in "$@"; do printf "<%s>" "$each"; done; pwd')
    const words = ['$HOME', '*', 'a b', "'", '"', '`x`', '', '; exit 1', '-e']
    expect((await run(scene, ['./show', ...words], { cwd: 'web' })).tail).toBe(
      `${words.map(word => `<${word}>`).join('')}${join(scene.folder, 'web')}\n`,
    )
  })

  it('is found by the name that was called: some programs go by it', async () => {
    const scene = checkScene()
    scene.script('tool', 'basename "$0"')
    symlinkSync('tool', join(scene.folder, 'alias'))
    expect(await run(scene, ['./alias'])).toMatchObject({ result: 'passed', tail: 'alias\n' })
  })

  it('runs inside the wrapper', async () => {
    const scene = checkScene()
    scene.script('wrapper', 'echo wrapped "$@"; exec "$@"')
    const place = { ...scene, wrap: [join(scene.folder, 'wrapper')] }
    const check: CommandCheck = { kind: 'command', run: ['sh', '-c', 'echo inner'] }
    expect(await runCommand(check, place, { redact })).toMatchObject({
      result: 'passed',
      tail: 'wrapped sh -c echo inner\ninner\n',
    })
    expect(await runCommand(check, { ...scene, wrap: ['no-such-wrapper'] }, { redact })).toMatchObject({
      result: 'inconclusive',
      reason: `The program no-such-wrapper was not found. ${ADVICE}`,
    })
  })

  it.each([
    ['a script that is missing', './nope.sh', './nope.sh'],
    ['a folder', './folder', 'is a folder, not a program.'],
    ['a script that is not executable', './plain.sh', 'is not executable'],
  ])('[CR12] inside a wrapper, %s is inconclusive', async (_, word, reason) => {
    const scene = checkScene()
    mkdirSync(join(scene.folder, 'folder'))
    scene.write('plain.sh', 'exit 0')
    const run = await runCommand({ kind: 'command', run: [word] }, { ...scene, wrap: ['nice'] }, { redact })
    expect(run).toMatchObject({ result: 'inconclusive', reason: expect.stringContaining(reason) })
  })

  it.runIf(onLinux)('has no terminal, no input, and none of our descriptors', async () => {
    const scene = checkScene()
    const run = await shell(
      scene,
      'cat; (echo x >/dev/tty) 2>&1; for fd in 0 3 4; do readlink /proc/$$/fd/$fd; done; tty',
    )
    expect(run.tail).toMatch(/\/dev\/tty.*\n\/dev\/null\nnot a tty\n$/)
    expect(run).toMatchObject({ result: 'failed', exit: 1 })
  })

  it('can open /dev/stdout and /dev/stderr', async () => {
    const run = await shell(checkScene(), 'echo out >/dev/stdout; echo err >/dev/stderr')
    expect(run).toMatchObject({ result: 'passed', tail: 'out\nerr\n' })
  })
})

describe.runIf(onLinux)('a command that does not behave', () => {
  it('[CR10] that hangs is asked to end at its timeout', async () => {
    const scene = checkScene()
    scene.script('hangs', `echo started; trap 'echo asked; exit 0' TERM; ${FOREVER} & wait`)
    const run = await hanging(scene, ['./hangs'])
    expect(run).toMatchObject({ result: 'inconclusive', reason: 'It did not end within 0.3 s and was stopped.' })
    expect(run.tail).toBe('started\nasked\n')
    await nothingLeft(scene)
  })

  it('[CR10] that ignores SIGTERM is killed', async () => {
    const scene = checkScene()
    scene.script('stays', `trap '' TERM; (${FOREVER}) & ${FOREVER}`)
    expect(await hanging(scene, ['./stays'])).toMatchObject({ result: 'inconclusive' })
    await nothingLeft(scene)
  })

  it('[CR10] that leaves its group is found: timeout and shells with job control', async () => {
    const scene = checkScene()
    expect(await hanging(scene, ['timeout', '1000', 'sleep', '1000'])).toMatchObject({ result: 'inconclusive' })
    await nothingLeft(scene)
    scene.script('jobs', 'exec 2>/dev/null', 'set -m', '(trap "" TERM; sleep 1000) >/dev/null &', 'exit 0')
    expect(await run(scene, ['bash', './jobs'])).toMatchObject({ result: 'passed' })
    await nothingLeft(scene)
  })

  it('[CR10] that leaves children behind has ended; they are killed, and their output is not awaited', async () => {
    const scene = checkScene()
    scene.script('forks', `(trap '' TERM; ${FOREVER}) &`, `${FOREVER} >/dev/null 2>&1 &`, 'echo done')
    expect(await run(scene, ['./forks'], { contains: 'done' })).toMatchObject({ result: 'passed', tail: 'done\n' })
    await nothingLeft(scene)
  })

  it('[CR10] that starts a daemon leaves it running: what makes a session of its own is not ours', async () => {
    const scene = checkScene()
    scene.script('daemon', 'setsid sleep 1000 & echo $!', 'echo done')
    const started = await run(scene, ['./daemon'])
    expect(started).toMatchObject({ result: 'passed' })
    expect(marked(scene).map(String)).toEqual([started.tail?.split('\n')[0]])
  })

  it('[CR10] is stopped by its signal, before it starts or later', async () => {
    const scene = checkScene()
    const stop = new AbortController()
    scene.script('waits', `echo started; exec ${FOREVER}`)
    const stopped = run(scene, ['./waits'], { watched: { signal: stop.signal, onOutput: () => stop.abort() } })
    expect(await stopped).toMatchObject({ result: 'inconclusive', reason: 'It was stopped.', tail: 'started\n' })
    const again = await run(scene, ['./waits'], { watched: { signal: stop.signal } })
    expect(again).toEqual({ result: 'inconclusive', reason: 'It was stopped.' })
    await nothingLeft(scene)
  })

  it('[CR10] that prints 1 GB is stopped after 64 MB, and little of it is in memory', async () => {
    const scene = checkScene()
    let peak = 0
    const run = await shell(scene, 'head -c 1000000000 /dev/zero; echo printed all', {
      watched: { onOutput: () => (peak = Math.max(peak, process.memoryUsage().arrayBuffers)) },
    })
    expect(run).toEqual({
      result: 'inconclusive',
      reason: 'It printed more than 64 MB and was stopped.',
      tail: '',
      output_sha256: createHash('sha256').update(Buffer.alloc(64_000_000)).digest('hex'),
    })
    expect(peak).toBeLessThan(64_000_000)
    await nothingLeft(scene)
  })

  it('[CR12] that kills its parent, or all its group, does not kill us', async () => {
    const scene = checkScene()
    const killed = { result: 'inconclusive', reason: 'The process that ran it was killed.' }
    expect(await shell(scene, 'kill -9 $PPID; echo mine')).toMatchObject({ ...killed, tail: 'mine\n' })
    expect(await shell(scene, 'kill -9 0')).toMatchObject(killed)
    expect(await shell(scene, 'kill 0')).toMatchObject({ result: 'inconclusive', reason: 'It was killed (SIGTERM).' })
    expect(await shell(scene, 'kill $PPID')).toMatchObject({ result: 'passed' })
    await nothingLeft(scene)
  })

  it('[CR12] that is killed says nothing; that crashes has failed', async () => {
    const scene = checkScene()
    for (const signal of ['KILL', 'TERM', 'INT', 'HUP']) {
      expect(await shell(scene, `kill -${signal} $$`)).toMatchObject({
        result: 'inconclusive',
        reason: `It was killed (SIG${signal}).`,
      })
    }
    expect(await shell(scene, 'kill -SEGV $$')).toMatchObject({ result: 'failed', exit: 139 })
    expect(await shell(scene, 'exit 137', { exit: 137 })).toMatchObject({ result: 'passed' })
  })

  it('[CR12] whose program is missing, a folder or not executable was not run', async () => {
    const scene = checkScene()
    scene.write('text', 'echo hi')
    scene.script('runs')
    mkdirSync(join(scene.folder, 'sub'))
    scene.script('../outside')
    const reasons = async (...words: string[]) => {
      const { result, reason, output_sha256 } = await run(scene, words)
      expect({ result, output_sha256 }).toEqual({ result: 'inconclusive', output_sha256: undefined })
      return reason
    }
    expect(await reasons('no-such-program')).toBe(`The program no-such-program was not found. ${ADVICE}`)
    expect(await reasons('./missing')).toBe(`The program ./missing was not found. ${ADVICE}`)
    expect(await reasons('./sub')).toContain('is a folder, not a program.')
    expect(await reasons('./text')).toContain('is not executable. Run: chmod +x')
    expect(await reasons('./runs/more')).toBe(`The program ./runs/more was not found. ${ADVICE}`)
    expect(await reasons('../outside')).toBe(`The program ../outside was not found. ${ADVICE}`)
  })

  it('[CR12] that exits with 127 itself has failed, unless its program is gone', async () => {
    const scene = checkScene()
    expect(await shell(scene, 'no-such-program')).toMatchObject({ result: 'failed', exit: 127 })
    scene.script('vanishes', 'rm "$0"; exit 127')
    expect(await run(scene, ['./vanishes'])).toMatchObject({ result: 'inconclusive' })
  })

  it('[CR12] whose environment is too long cannot be started', async () => {
    const scene = checkScene({ LONG: 'x'.repeat(200_000) })
    expect(await shell(scene, 'exit 0')).toMatchObject({
      result: 'inconclusive',
      reason: 'It cannot be started: argument list too long.',
    })
  })

  it('[CR12] whose folder is gone, or a link out, was not run', async () => {
    const scene = checkScene()
    scene.write('file', 'x')
    symlinkSync(realpathSync(tmpdir()), join(scene.folder, 'out'))
    const reason = async (cwd: string) => (await shell(scene, 'exit 0', { cwd })).reason
    expect(await reason('missing')).toBe('missing cannot be found: no such file or directory.')
    expect(await reason('file')).toBe('file is not a folder.')
    expect(await reason('out')).toBe('out leads out of the workspace.')
    const gone = { ...scene, workspace: { machine: 'here', path: join(scene.folder, 'gone') } }
    expect(await runCommand({ kind: 'command', run: ['sh'] }, gone, { redact })).toMatchObject({
      result: 'inconclusive',
      reason: expect.stringContaining(
        `(${gone.workspace.path}) cannot be found: no such file or directory. Put it back, then`,
      ),
    })
  })

  it('[CR12] whose workspace is removed or replaced meanwhile says nothing', async () => {
    for (const replaced of [false, true]) {
      const scene = checkScene()
      const during = () => {
        if (existsSync(scene.folder)) renameSync(scene.folder, `${scene.folder}-old`)
        if (replaced) mkdirSync(scene.folder, { recursive: true })
      }
      const ended = shell(scene, 'echo started; while [ -e ../work/here ]; do sleep 0.01; done', {
        watched: { onOutput: during },
      })
      expect(await ended).toMatchObject({ result: 'inconclusive', reason: 'The workspace was removed or replaced.' })
    }
  })
})
