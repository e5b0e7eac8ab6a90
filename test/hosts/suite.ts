import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { DIGEST_MARK } from '../../src/core/views/digest.ts'
import { talker, worker } from './agent.ts'
import type { Driver } from './drivers/driver.ts'
import { FILES, GREETING, isProven, scriptGreeting } from './greeting.ts'
import { isDone, sceneOf } from './opened.ts'
import { outline } from './person.ts'
import type { HostScene } from './scene.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** From `runsheet setup` to the first plan that waits for the person. */
    firstPlanMs?: number
  }
}

const TASKS = [{ title: 'Collect the figures' }, { title: 'Check the figures' }, { title: 'Write the report' }]
const EDITED = ['1 Collect the figures of May', '2 Write the report', '3 Send it to Ann']
const PROMPT = 'Make the May report.'
/** Longer than a machine takes to answer a form. */
const LOOK_MS = 3_000
const SLOW_MS = 75_000
const DISPUTE_MS = 60_000

/** Against the title of the greeting, and for it. */
const CHECKS = {
  wrong: FILES['check.mjs'].replace('Hello', 'Hi'),
  right: FILES['check.mjs'],
}

/** What holds in every host, with the settings that `runsheet setup` makes. */
export function hostSuite(host: Driver): void {
  describe(host.label, () => {
    const opened = sceneOf(host)

    it('[HO1] a person edits the plan on the page, and the agent works through what was confirmed', async ({
      task,
    }) => {
      const scene = await opened()
      scene.model.script = worker({ tasks: TASKS })
      const started = performance.now()
      await scene.setup()
      const run = scene.run(PROMPT)
      const review = await scene.review(run)
      task.meta.firstPlanMs = performance.now() - started
      await scene.person.edit(review)
      expect((await run.ended).code).toBe(0)
      const plan = await isDone(scene, EDITED)
      expect(plan.title).toBe(`${host.label} · website · Collect the figures`)
      expect(scene.model.asked.at(-1)?.answer).toEqual({ text: 'DONE' })
    })

    it('a person may take 75 s', async () => {
      const scene = await opened()
      scene.model.script = worker({ tasks: TASKS })
      await scene.setup()
      const run = scene.run(PROMPT)
      const review = await scene.review(run)
      await delay(SLOW_MS)
      await scene.person.edit(review)
      expect((await run.ended).code).toBe(0)
      await isDone(scene, EDITED)
    })

    it('neither the host nor silence decides; what a person rejects is not written', async () => {
      const scene = await opened()
      scene.model.script = worker({ tasks: TASKS })
      await scene.setup()
      const run = scene.run(PROMPT)
      const review = await scene.review(run)
      await delay(LOOK_MS)
      expect((await scene.person.client.review(review.review_id)).review.status).toBe('pending')
      await scene.person.reject(review)
      await run.ended
      expect(scene.model.asked.at(-1)?.answer).toEqual({ text: 'REFUSED: user_cancelled' })
      expect((await scene.person.plans()).map(outline)).toEqual([[]])
    })

    it('an agent that stops early is sent back, and finishes', async () => {
      const scene = await opened()
      scene.model.script = worker({ tasks: TASKS, stopsAfter: 1 })
      await scene.setup()
      await scene.serve()
      const run = scene.run(PROMPT)
      await scene.person.edit(await scene.review(run))
      expect((await run.ended).code).toBe(0)
      const { events } = await isDone(scene, EDITED)
      expect(events.filter(({ type }) => type === 'gate_followed')).toHaveLength(1)
    })

    it('one that stops again and again is let go, and told of the plan when it is resumed', async () => {
      const scene = await opened()
      scene.model.script = worker({ tasks: TASKS, stopsAfter: 1, heedsGate: false })
      await scene.setup()
      await scene.serve()
      const run = scene.run(PROMPT)
      await scene.person.edit(await scene.review(run))
      const { printed } = await run.ended
      const followUps = async (): Promise<number | undefined> =>
        (await scene.person.plans())[0]?.events.filter(({ type }) => type === 'gate_followed').length
      await expect.poll(followUps).toBe(3)
      scene.model.script = talker
      scene.model.asked.length = 0
      await scene.run('Hello again.', host.sessionIn(printed)).ended
      const digests = scene.model.heard.filter(text => text.includes(DIGEST_MARK))
      expect(digests).toContainEqual(expect.stringContaining('Now: 2 "Write the report"'))
      expect(await followUps()).toBe(3)
      expect(await scene.person.plans()).toHaveLength(1)
    })

    it('with gate, evidence and digest off, a session that is resumed still goes on with its plan', async () => {
      const scene = await opened()
      const before = () => [host.shell('echo evidence-42')]
      scene.model.script = worker({ tasks: TASKS, before, stopsAfter: 1 })
      await scene.setup('--no-gate', '--no-evidence', '--no-digest')
      await scene.serve()
      const run = scene.run(PROMPT)
      await scene.person.edit(await scene.review(run))
      const { printed } = await run.ended
      scene.model.script = worker({ tasks: TASKS })
      await scene.run('Go on.', host.sessionIn(printed)).ended
      const { session, tasks, events } = await isDone(scene, EDITED)
      expect(events.filter(({ type }) => type === 'gate_followed')).toEqual([])
      expect(scene.model.heard.filter(text => text.includes(DIGEST_MARK))).toEqual([])
      expect((await scene.person.client.evidence(session, tasks[0]?.id ?? '')).evidence).toEqual([])
    })

    it("the results of the host's own tools are at the task", async () => {
      const scene = await opened()
      const calls = [host.shell('echo evidence-42'), host.shell('cat no-such-file')]
      const before = (title: string) => (title.startsWith('Collect') ? calls : [])
      scene.model.script = worker({ tasks: TASKS, before })
      await scene.setup()
      const run = scene.run(PROMPT)
      await scene.person.edit(await scene.review(run))
      await run.ended
      const { session, tasks } = await isDone(scene, EDITED)
      const { evidence } = await scene.person.client.evidence(session, tasks[0]?.id ?? '')
      expect(evidence.map(({ source, tool, ok }) => ({ source, tool, ok }))).toEqual([
        { source: 'host', tool: host.shellName, ok: true },
        { source: 'host', tool: host.shellName, ok: !host.tellsFailures },
      ])
      expect(JSON.stringify(evidence[0]?.answer)).toContain('evidence-42')
      // Qwen Code sometimes loses the output of a command that ends at once, not its exit code.
      expect(JSON.stringify(evidence[1]?.answer)).toMatch(/No such file|Exit Code: 1/)
      const other = await scene.person.client.evidence(session, tasks[1]?.id ?? '')
      expect(other.evidence).toEqual([])
    })

    it('two chats at a time have a plan each', async () => {
      const scene = await opened()
      scene.model.script = request => {
        const month = request.said.some(text => text.includes('June report')) ? 'June' : 'May'
        return worker({ tasks: [{ title: `Collect ${month}` }, { title: `Write ${month}` }] })(request)
      }
      await scene.setup()
      await scene.serve()
      const runs = [scene.run(PROMPT), scene.run('Make the June report.')]
      for (const _ of runs) await scene.person.confirm(await scene.review(...runs))
      await Promise.all(runs.map(run => run.ended))
      const plans = (await scene.person.plans()).map(outline)
      expect(plans.toSorted((a, b) => a.join().localeCompare(b.join()))).toEqual([
        ['1 Collect June: completed', '2 Write June: completed'],
        ['1 Collect May: completed', '2 Write May: completed'],
      ])
    })

    it('settings that were there come back byte for byte', async () => {
      const scene = await opened()
      scene.addSettings(host.settings)
      await scene.setup()
      expect(settingsOf(scene)).not.toEqual(host.settings)
      await scene.runsheet('setup', host.name, '--remove', '--yes')
      expect(settingsOf(scene)).toEqual(host.settings)
    })

    it('after the host has run with them, exactly our entries go', async () => {
      const scene = await opened()
      scene.addSettings(host.settings)
      scene.model.script = worker({ tasks: TASKS })
      await scene.setup()
      const run = scene.run(PROMPT)
      await scene.person.edit(await scene.review(run))
      await run.ended
      await isDone(scene, EDITED)
      await scene.runsheet('setup', host.name, '--remove', '--yes')
      const after = settingsOf(scene)
      for (const [path, text] of Object.entries(host.settings)) {
        expect(after[path]).not.toContain('runsheet')
        if (!host.rewrites.includes(path)) expect(after[path]).toBe(text)
      }
    })

    it('the page that the host started outlives it, and gets none of its variables', async () => {
      const scene = await opened()
      scene.model.script = worker({ tasks: TASKS })
      await scene.setup()
      await scene.endPage()
      const run = scene.run(PROMPT)
      await expect.poll(() => scene.person.server).toBeDefined()
      const review = await scene.review(run)
      const { pid = 0 } = scene.person.server ?? {}
      run.kill()
      await run.ended
      await expect.poll(() => scene.processes()).toEqual([pid])
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8')
      const ofHost = Object.keys(host.env(scene.model.url))
      expect(ofHost.filter(name => variables.includes(`${name}=`))).toEqual([])
      expect(variables).not.toMatch(/(^|\0)(CLAUDE|CODEX|GEMINI|OPENCODE|QWEN|AI_AGENT)/)
      await scene.person.confirm(review)
      expect((await scene.person.plans()).map(({ tasks }) => tasks.length)).toEqual([3])
    })

    it('a task whose check was red is proven once the agent has done it', async () => {
      const scene = await opened()
      scriptGreeting(scene)
      await scene.start('git', ['init', '--quiet']).ended
      await scene.setup()
      const run = scene.run(GREETING.prompt)
      const review = await scene.review(run)
      expect(review.draft_tasks[0]?.checks).toMatchObject([{ kind: 'command', run: ['node', 'check.mjs'] }])
      await scene.person.confirm(review)
      expect((await run.ended).code).toBe(0)
      await isProven(scene)
    })

    it('an agent disputes a check that contradicts its task, the person changes it, and the receipt tells it', async () => {
      const scene = await opened()
      scene.write('check.mjs', CHECKS.wrong)
      scene.write('right.mjs', CHECKS.right)
      const written = host.write(join(scene.project, 'greeting.mjs'), FILES['greeting.mjs'])
      const waits = host.shell('until [ -e answered ]; do sleep 0.1; done')
      const before = (title: string, attempt: number) =>
        title.startsWith('Mention') ? [waits] : attempt === 0 ? [written] : []
      const disputes = (title: string, attempt: number) =>
        title.startsWith('Write') && attempt === 1 ? 'check.mjs wants Hi, the task says Hello' : undefined
      scene.model.script = worker({ tasks: GREETING.tasks, before, disputes })
      await scene.start('git', ['init', '--quiet']).ended
      await scene.setup()
      const run = scene.run(GREETING.prompt)
      await scene.person.confirm(await scene.review(run))
      const { client } = scene.person
      const { session_id, title } = await scene.person.dispute(AbortSignal.timeout(DISPUTE_MS))
      expect(title).toBe('Write greeting.mjs')
      const { tasks } = await client.tasks(session_id)
      expect(tasks.map(({ status }) => status)).toEqual(['blocked', 'in_progress'])
      await scene.person.changesCheck(session_id, title, 'node check.mjs', 'node right.mjs')
      scene.write('answered', '')
      expect((await run.ended).code).toBe(0)
      await isDone(scene, ['1 Write greeting.mjs', '2 Mention it in the README'])
      expect(scene.model.asked.map(({ request }) => JSON.stringify(request.results)).join()).toContain(
        'a person changed it after the dispute',
      )
      const receipt = await scene.runsheet('receipt', '--data', scene.data, '--session', session_id)
      expect(receipt).toMatch(/^- Disputed by .*website, .*: check\.mjs wants Hi, the task says Hello$/m)
      expect(receipt).toMatch(/^ {2}- what it asks for was changed by a person \(page/m)
    })

    it('a colleague without runsheet can work with the host in the project', async () => {
      const scene = await opened()
      if (host.trusting) scene.addSettings(host.trusting(scene.project))
      scene.model.script = talker
      await scene.setup('--scope', 'project')
      const { code, printed } = await scene.run('Hello.', undefined, withoutRunsheet(scene)).ended
      expect(printed).not.toMatch(/execution (blocked|stopped)/i)
      expect({ code, answers: scene.model.asked.map(({ answer }) => answer) }).toMatchObject({
        code: 0,
        answers: expect.arrayContaining([{ text: 'Hello.' }]) as unknown,
      })
    })

    it('doctor is content with what setup wrote', async () => {
      const scene = await opened()
      await scene.setup()
      const { code, printed } = await scene.attempt('doctor', host.name)
      expect(printed).toContain(`${host.label}: tried with ${host.version}`)
      const wrong = printed.split('\n').filter(line => /^ +WRONG/.test(line))
      expect({ code, wrong }).toEqual({ code: 0, wrong: [] })
    })
  })

  function withoutRunsheet({ env }: HostScene): Readonly<Record<string, string>> {
    const folders = env['PATH']?.split(delimiter).filter(folder => !existsSync(join(folder, 'runsheet')))
    return { PATH: folders?.join(delimiter) ?? '' }
  }

  function settingsOf({ home }: HostScene): Readonly<Record<string, string>> {
    return Object.fromEntries(
      Object.keys(host.settings).map(path => [path, readFileSync(join(home, path), 'utf8')] as const),
    )
  }
}
