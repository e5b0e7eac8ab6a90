import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FileHasher } from '../src/checks/files.ts'
import { LIMITS, fingerprint, type FingerprintRequest } from '../src/checks/fingerprint.ts'
import { runCommand } from '../src/checks/run-command.ts'
import { redactor } from '../src/core/text/redact.ts'
import { scratchFolder } from '../test/support/scratch.ts'
import { median, millis, printTable, times, turnByTurn, type Line } from './table.ts'

const ROUNDS = 11
const STARTS = 100
const PATH = '/usr/local/bin:/usr/bin:/bin'
const env = { PATH, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' }
const git = (folder: string, ...args: readonly string[]): Buffer =>
  execFileSync('git', ['-C', folder, ...args], { env, maxBuffer: 1e8, stdio: ['ignore', 'pipe', 'ignore'] })
const program = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()

const folder = scratchFolder()
printTable('Fingerprint of a repository, beside `git status` of the same', [
  ...(await measured(1_000)),
  ...(await measured(20_000)),
  ...(await measured(100_000)),
])
printTable('Starting a command', [await starts()])
rmSync(folder, { recursive: true })

/**
 * Files of 2 kB, 100 per folder, 90 % tracked. Above the limit all have the same content, because git adds them faster.
 */
async function measured(files: number): Promise<readonly Line[]> {
  const root = join(folder, `${files}`)
  mkdirSync(root)
  git(root, 'init', '-q')
  for (let at = 0; at < files; at += 1) {
    if (at % 100 === 0) mkdirSync(join(root, `${at / 100}`))
    writeFileSync(
      join(root, `${Math.floor(at / 100)}`, `${at}.txt`),
      `${files > LIMITS.files ? '' : at}\n`.padEnd(2_000, 'x'),
    )
    if (at === Math.floor(files * 0.9)) git(root, 'add', '.')
  }
  git(root, '-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '-qm', 'start')
  // Hashes of files that changed within the last two seconds are not cached.
  await sleep(2_500)
  git(root, 'status', '--porcelain')
  const request: FingerprintRequest = { root, git: { program, path: PATH }, exclude: [], limits: LIMITS }
  const hasher = new FileHasher()
  const found = fingerprint(request, hasher)
  const timed = (work: () => unknown): Promise<number> => {
    const start = performance.now()
    work()
    return Promise.resolve(performance.now() - start)
  }
  const figures = await turnByTurn(files > 20_000 ? 5 : ROUNDS, {
    cold: () => timed(() => fingerprint(request, new FileHasher())),
    warm: () => timed(() => fingerprint(request, hasher)),
    status: () => timed(() => git(root, 'status', '--porcelain')),
  })
  const line = (what: 'cold' | 'warm'): Line => ({
    what: `${files.toLocaleString('en')} files, ${found === undefined ? 'none' : what}`,
    ours: millis(figures.median(what)),
    beside: millis(figures.median('status')),
    ratio: times(figures.ratio(what, 'status')),
    goal: '< 1 s',
    met: figures.median(what) < 1_000,
  })
  return found === undefined ? [line('cold')] : [line('cold'), line('warm')]
}

/** Runs `true` through our runner and by a plain spawn. */
async function starts(): Promise<Line> {
  const root = join(folder, 'empty')
  mkdirSync(root)
  const place = { workspace: { machine: 'bench', path: root }, wrap: [], env: { PATH } }
  const redact = redactor()
  const [ours, plain]: [number[], number[]] = [[], []]
  for (let round = 0; round < STARTS; round += 1) {
    let start = performance.now()
    await runCommand({ kind: 'command', run: ['true'] }, place, { redact })
    ours.push(performance.now() - start)
    start = performance.now()
    await new Promise(resolve =>
      spawn('true', { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH } }).once('close', resolve),
    )
    plain.push(performance.now() - start)
  }
  const [mine, theirs] = [median(ours), median(plain)]
  return {
    what: '`true`, start to end',
    ours: millis(mine),
    beside: millis(theirs),
    ratio: times(mine / theirs),
    goal: '',
    met: undefined,
  }
}
