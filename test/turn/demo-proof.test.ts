import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { emptyConversation, fold } from '../../src/core/model/conversation.ts'
import { findTask } from '../../src/core/decide/tasks.ts'
import { standingWordOf } from '../../src/core/proof/standing.ts'
import { runCli } from '../support/children.ts'
import { type CliTurns, startCli } from '../support/cli-turns.ts'
import { scratchFolder } from '../support/scratch.ts'
import { TOKENS } from '../support/server.ts'
import { approveAll, type ChatReader, confirmAll } from '../support/turns.ts'

const ENGLISH = 'Fix the greeting in the sandbox, and prove it'
const CHINESE = '修好沙盒里的问候，并证明它'

const folders: string[] = []
const servers: CliTurns[] = []
afterAll(async () => {
  await Promise.all(servers.map(server => server.end()))
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = scratchFolder()
  folders.push(folder)
  return folder
}

async function started(env: NodeJS.ProcessEnv = {}, data = newFolder()): Promise<CliTurns & { data: string }> {
  const server = await startCli({ data, env })
  servers.push(server)
  return { ...server, data }
}

const finished = (reader: ChatReader) => reader.of('turn_finished')[0]?.data
const lastWords = (reader: ChatReader): string => reader.of('message_added').at(-1)?.data.text ?? ''
const runs = (reader: ChatReader): string[] =>
  reader.of('check_ran').map(({ data: { why, result } }) => `${why} ${result}`)
const edits = (reader: ChatReader): number =>
  reader.of('tool_answered').filter(({ data }) => data.tool === 'edit_sandbox_file' && data.ok).length
const standings = async ({ person }: CliTurns): Promise<unknown[]> =>
  (await person.tasks('c1')).tasks.map(({ standing }) => standing)

/** The standings that a task had, one after the other, as the stream told it. */
function standingsOver(reader: ChatReader, number: number): readonly unknown[] {
  let state = emptyConversation('c1')
  const seen = reader.events.map(event => {
    state = fold(state, [event])
    const task = findTask(state, number)
    return task && standingWordOf(state, task)
  })
  return seen.filter((standing, index) => index === 0 || standing !== seen[index - 1])
}

describe.concurrent("the demo's sandbox", () => {
  it.each([
    ['English', ENGLISH, {}],
    ['Chinese, without a Node on the PATH', CHINESE, { PATH: '/nowhere' }],
  ])('a newcomer sees a step go from red to green to proven: %s', async (_, message, env) => {
    const server = await started(env)
    const reader = await server.chat({ message }, approveAll)
    expect(reader.of('task_create_review_required')[0]?.data.draft_tasks[1]?.checks).toMatchObject([
      { kind: 'command', run: ['node', '--test'] },
    ])
    // Red at the start; red for the first claim, which fixed half of it; green for the second.
    expect(runs(reader)).toEqual(['baseline failed', 'claim failed', 'claim passed'])
    expect(standingsOver(reader, 2)).toEqual([undefined, 'proven'])
    expect(edits(reader)).toBe(2)
    expect(await standings(server)).toEqual(['judged', 'proven', 'judged'])
    expect(finished(reader)).toMatchObject({ status: 'done', standings: { proven: 1, judged: 2, reported: 0 } })
    expect(lastWords(reader)).toContain('3 of 3 done: 1 proven, 2 judged.')
    const receipt = runCli(['receipt', '--data', server.data])
    await receipt.ended
    expect(receipt.lines.filter(line => line.startsWith('| 2 |'))).toEqual([
      expect.stringMatching(/\| done \| proven \|$/),
    ])
    expect(receipt.lines.join('\n')).toMatch(
      /- Check `node --test`: approved by a person \(HTTP[^]*claimed: passed, exit code 0/,
    )
    expect(readFileSync(join(server.data, 'sandbox/greeting.mjs'), 'utf8')).toContain("greet(name = 'stranger')")
  })

  it('the page and the docs name the request', () => {
    const source = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
    for (const name of ['src/ui/page/texts/english.ts', 'docs/proof.md', 'docs/get-started.md'])
      expect(source(name)).toContain(ENGLISH)
    expect(source('src/ui/page/texts/chinese.ts')).toContain(CHINESE)
  })

  it('is made once, and what is there stays; what passes already only guards', async () => {
    const data = newFolder()
    const inSandbox = (name: string): string => join(data, 'sandbox', name)
    await (await startCli({ data })).end()
    expect(statSync(inSandbox('greeting.test.mjs')).mode & 0o777).toBe(0o600)
    const mended = 'export const greet = (name = "stranger") => `Hello, ${name}!`\n'
    writeFileSync(inSandbox('greeting.mjs'), mended)
    rmSync(inSandbox('README.md'))
    const server = await started({}, data)
    const reader = await server.chat({ message: ENGLISH }, approveAll)
    expect(edits(reader)).toBe(0)
    expect(runs(reader)[0]).toBe('baseline passed')
    const [, fixed] = (await server.person.tasks('c1')).tasks
    expect(fixed?.standing).not.toBe('proven')
    expect(readFileSync(inSandbox('greeting.mjs'), 'utf8')).toBe(mended)
    expect(existsSync(inSandbox('README.md'))).toBe(false)
  })

  it('where nobody approved the check, it does not run, and the judge passes nothing but the whole fix', async () => {
    const server = await started()
    const reader = await server.chat({ message: ENGLISH }, confirmAll)
    expect(runs(reader)).toEqual([])
    expect(reader.of('task_assessed').map(({ data: { verdict, reason } }) => [verdict, reason])).toEqual([
      ['ok', ''],
      ['not_ok', 'without a name it greets nobody.'],
      ['ok', ''],
      ['ok', ''],
    ])
    expect(edits(reader)).toBe(2)
    expect(await standings(server)).toEqual(['judged', 'judged', 'judged'])
  })

  it('a step whose check the demo model cannot make pass is put aside, not claimed again and again', async () => {
    const server = await started()
    const reader = await server.chat({ message: 'Compute 2 + 3. Compute 3 + 4.' }, ({ draft_tasks }) => ({
      action: 'confirm',
      tasks: draft_tasks.map(({ title }, draft_index) => ({
        title,
        draft_index,
        ...(draft_index === 0 ? { checks: [{ kind: 'file', path: 'never.txt' } as never] } : {}),
      })),
    }))
    expect(reader.of('claim_settled').filter(({ data }) => data.because === 'check_failed')).toHaveLength(1)
    expect((await server.person.tasks('c1')).tasks.map(({ status }) => status)).toEqual(['blocked', 'completed'])
    expect(lastWords(reader)).toContain('never.txt exists')
  })

  it('is not offered to agents elsewhere', async () => {
    const server = await started()
    const headers = { authorization: `Bearer ${TOKENS.agent}`, 'content-type': 'application/json' }
    const tools = await fetch(new URL('/api/toolsets/runsheet', server.url), { headers }).then(each => each.text())
    expect(tools).toContain('"plan"')
    expect(tools).not.toContain('"check"')
  })

  it.each([
    ['of its own', [], /^Checks of the demo run in .*sandbox\. For your own project: --workspace DIR$/, true],
    ['with --workspace', ['--workspace', '.'], /^Checks run in \.$/, false],
    [
      'with another model',
      ['--model', 'openai-compatible:x', '--model-url', 'http://127.0.0.1:9/'],
      /^Checks: none\. For your own project: --workspace DIR$/,
      false,
    ],
  ])('the start says where checks run: %s', async (_, args, line, hasSandbox) => {
    const data = newFolder()
    const child = runCli(['serve', '--port', '0', '--data', data, ...args])
    expect(await child.line(each => each.startsWith('Checks'))).toMatch(line)
    child.process.kill('SIGTERM')
    await child.ended
    expect(existsSync(join(data, 'sandbox'))).toBe(hasSandbox)
  })
})
