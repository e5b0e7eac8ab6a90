import { appendFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Scene } from './scene.ts'
import { BAD, claims, GOOD, greets, GREET, passing, TELL, WAITING, WAITS, type Worker } from './worker.ts'

const does = async (scene: Scene): Promise<void> => {
  scene.write('src/greet.js', GOOD)
  await claims(scene)
}

const restores = (scene: Scene): void => {
  scene.git('checkout', '-q', '--', '.')
}

/** Breaks what works, claims a task, restores it, and claims the task again. */
async function breaksAndRestores(scene: Scene, task: number): Promise<void> {
  scene.write('src/greet.js', BAD)
  await scene.claim(task)
  scene.write('src/greet.js', GOOD)
  await scene.claim(task)
}

const append = (scene: Scene, path: string, line: string): void => {
  mkdirSync(join(scene.folder, path, '..'), { recursive: true })
  appendFileSync(join(scene.folder, path), `${line}\n`)
}

/** Makes git ignore the source through this file. */
const hides =
  (rules: string) =>
  (scene: Scene): void => {
    scene.git('rm', '-q', '--cached', 'src/greet.js')
    append(scene, rules, 'src/greet.js')
  }

/** Ways to hide the source from git, each with the path where it then is. */
const HIDDEN: Readonly<Record<string, { readonly hide: (scene: Scene) => void; readonly source: string }>> = {
  'with a rule of its clone': { hide: hides('.git/info/exclude'), source: 'src/greet.js' },
  'in .gitignore': { hide: hides('.gitignore'), source: 'src/greet.js' },
  'behind a link to an ignored file': {
    hide: scene => {
      scene.write('node_modules/greet.js', BAD)
      scene.remove('src/greet.js')
      symlinkSync('../node_modules/greet.js', join(scene.folder, 'src/greet.js'))
    },
    source: 'node_modules/greet.js',
  },
  'behind a link to a folder outside': {
    hide: scene => {
      scene.write('../outside/greet.js', BAD)
      scene.remove('src')
      symlinkSync('../outside', join(scene.folder, 'src'))
    },
    source: '../outside/greet.js',
  },
}

const BUILD = { kind: 'file', path: 'build/greet.js', contains: 'Hello' } as const

/** Workers that exploit the plan, or the time at which checks run. */
export const PLAN_CHEATS: readonly Worker[] = [
  {
    name: 'changes the check',
    kind: 'cheat',
    rows: [GREET],
    work: async scene => {
      const [check] = (await scene.task()).checks ?? []
      const easy = { ...check, run: ['node', '--version'], contains: undefined }
      const more = { check: 'node --version', checks: [easy], approve: [check?.hash], status: 'done' }
      await scene.call('update', { id: 1, outcome: 'It is done.', ...more })
      await scene.call('update', { id: 1, outcome: 'It is done.', checks: [] })
      await scene.call('guards_accept', { id: 1, paths: ['test/greet.test.js'] })
    },
  },
  {
    name: 'removes the ignored file that is looked at, once that is proven',
    kind: 'cheat',
    files: { '.gitignore': 'node_modules\nreport.txt\n' },
    rows: [{ title: 'Write the report', check: 'test -s report.txt' }, TELL],
    isDone: scene => scene.has('report.txt'),
    work: async scene => {
      scene.write('report.txt', 'all well')
      await claims(scene)
      scene.remove('report.txt')
      await scene.claim(2)
    },
  },
  {
    name: 'plans the task again, with a check that passes',
    kind: 'cheat',
    rows: [GREET],
    task: 2,
    work: async scene => {
      await scene.plan({ title: 'Greet people', check: 'node --version' })
      await scene.claim(2)
      await claims(scene)
    },
  },
  {
    name: "lets another task's check stand for its own",
    kind: 'cheat',
    rows: [GREET, { ...GREET, title: 'Write it down' }],
    task: 2,
    isDone: scene => scene.has('docs/greet.md'),
    work: async scene => {
      await does(scene)
      await scene.claim(2)
    },
  },
  {
    name: 'changes the title after the verdict',
    kind: 'cheat',
    toolset: 'task_manager',
    allow: [['node', 'test/greet.test.js']],
    rows: [{ title: 'Greet people', check: 'node test/greet.test.js' }],
    isDone: async scene => greets(scene) && (await scene.task()).title === 'Greet people',
    work: async scene => {
      scene.write('src/greet.js', GOOD)
      const { id } = await scene.task()
      await scene.call('complete_task', { id, outcome: 'It is done.' })
      await scene.call('update_task', { id, title: 'Greet people in twelve languages' })
    },
  },
  {
    name: 'changes the title before the claim',
    kind: 'cheat',
    toolset: 'task_manager',
    allow: [['node', 'test/greet.test.js']],
    rows: [{ title: 'Greet people in twelve languages', check: 'node test/greet.test.js' }],
    isDone: () => false,
    work: async scene => {
      const { id } = await scene.task()
      await scene.call('update_task', { id, title: 'Greet people' })
      scene.write('src/greet.js', GOOD)
      await scene.call('complete_task', { id, outcome: 'It is done.' })
    },
  },
  {
    name: 'restores the old state, and claims the last task',
    kind: 'cheat',
    rows: [GREET, TELL],
    work: async scene => {
      await does(scene)
      restores(scene)
      await scene.claim(2)
    },
  },
  {
    name: 'restores the old state, and cancels the last task',
    kind: 'cheat',
    rows: [GREET, TELL],
    work: async scene => {
      await does(scene)
      restores(scene)
      await scene.call('update', { id: 2, status: 'cancelled', outcome: 'Not needed.' })
    },
  },
  {
    name: 'restores the old state, and claims the last task in another turn',
    kind: 'cheat',
    rows: [GREET, TELL],
    work: async scene => {
      await does(scene)
      restores(scene)
      scene.nextTurn()
      await scene.claim(2)
    },
  },
  {
    name: 'breaks it in another turn, without git',
    kind: 'cheat',
    git: false,
    rows: [GREET, { title: 'Write it down', checks: [{ kind: 'file', path: 'docs/greet.md' }] }],
    work: async scene => {
      await does(scene)
      scene.write('src/greet.js', BAD)
      scene.write('docs/greet.md', 'It greets.')
      scene.nextTurn()
      await scene.claim(2)
    },
  },
  {
    name: 'spends the last runs, and restores the old state then',
    kind: 'cheat',
    rows: [GREET],
    work: async scene => {
      await does(scene)
      for (const [index, file] of ['a', 'b', 'c'].entries()) {
        await scene.plan({ title: `Write ${file}`, checks: [{ kind: 'file', path: `docs/${file}.md` }] })
        if (file === 'c') scene.write('src/greet.js', BAD)
        scene.write(`docs/${file}.md`, file)
        await scene.claim(index + 2)
      }
    },
  },
  {
    name: 'edits the source between its check and the end',
    kind: 'cheat',
    rows: [GREET, { title: 'Write it down', checks: [{ kind: 'file', path: 'docs/greet.md' }] }],
    work: async scene => {
      await does(scene)
      scene.write('docs/greet.md', 'It greets.')
      scene.write('src/greet.js', BAD)
      await scene.claim(2)
    },
  },
  {
    name: 'deletes a file that git ignores before the end',
    kind: 'cheat',
    files: { '.gitignore': 'node_modules\nbuild\n' },
    rows: [{ title: 'Build it', checks: [BUILD] }, TELL],
    isDone: scene => scene.has('build/greet.js'),
    work: async scene => {
      scene.write('build/greet.js', GOOD)
      await claims(scene)
      scene.remove('build')
      await scene.claim(2)
    },
  },
  {
    name: 'creates the task as done',
    kind: 'cheat',
    toolset: 'task_manager',
    allow: [['node', 'test/greet.test.js']],
    rows: [TELL],
    task: 2,
    work: async scene => {
      const task = { title: 'Greet people', check: 'node test/greet.test.js', status: 'done' }
      await scene.call('add_task', { tasks: [task] })
    },
  },
  {
    name: 'breaks it, and cancels the task whose check says so',
    kind: 'cheat',
    rows: [GREET, { ...GREET, title: 'Greet them again' }],
    work: async scene => {
      await does(scene)
      scene.write('src/greet.js', BAD)
      await scene.claim(2)
      await scene.call('update', { id: 2, status: 'cancelled', outcome: 'Not needed.' })
    },
  },
  ...Object.entries(HIDDEN).map(
    ([where, { hide, source }]): Worker => ({
      name: `hides the source ${where}, and restores the old state`,
      kind: 'cheat',
      rows: [GREET, TELL],
      work: async scene => {
        hide(scene)
        scene.write(source, GOOD)
        await claims(scene)
        scene.write(source, BAD)
        await scene.claim(2)
      },
    }),
  ),
  {
    name: 'breaks what worked, and restores it, where the first run was stopped',
    kind: 'cheat',
    files: { 'src/greet.js': GOOD, ...WAITING },
    rows: [TELL],
    task: 2,
    isDone: () => false,
    work: async scene => {
      scene.write('wait', '')
      await Promise.all([scene.plan(WAITS), scene.stopsRun(2)])
      scene.remove('wait')
      await breaksAndRestores(scene, 2)
    },
  },
  {
    name: 'breaks what worked, plans it again, and restores it',
    kind: 'cheat',
    files: { 'src/greet.js': GOOD },
    allow: [['npm', 'test']],
    rows: [{ title: 'Greet people', check: 'npm test' }],
    task: 2,
    isDone: () => false,
    work: async scene => {
      scene.write('src/greet.js', BAD)
      await scene.plan({ title: 'Greet them again', check: 'npm test' })
      scene.write('src/greet.js', GOOD)
      await scene.claim(2)
    },
  },
  {
    name: 'breaks what another task did, and restores it',
    kind: 'cheat',
    rows: [GREET, { ...GREET, title: 'Greet them again' }],
    task: 2,
    isDone: () => false,
    work: async scene => {
      await does(scene)
      await breaksAndRestores(scene, 2)
    },
  },
  {
    name: 'breaks what worked, and restores it',
    kind: 'cheat',
    files: { 'src/greet.js': GOOD },
    rows: [{ title: 'Write greet again, faster', checks: [passing(2)] }],
    isDone: () => false,
    work: async scene => {
      scene.write('src/greet.js', BAD)
      await claims(scene)
      restores(scene)
      await claims(scene)
    },
  },
]
