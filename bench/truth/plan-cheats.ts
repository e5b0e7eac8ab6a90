import type { Scene } from './scene.ts'
import { BAD, claims, GOOD, greets, GREET, passing, TELL, type Worker } from './worker.ts'

const does = async (scene: Scene): Promise<void> => {
  scene.write('src/greet.js', GOOD)
  await claims(scene)
}

const restores = (scene: Scene): void => {
  scene.git('checkout', '-q', '--', '.')
}

const BUILD = { kind: 'file', path: 'build/greet.js', contains: 'Hello' } as const

/** Workers that play with the plan, and with the time at which things are checked. */
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
