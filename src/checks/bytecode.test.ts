import { describe, expect, it } from 'vitest'
import { checkScene } from '../../test/support/check-scene.ts'
import { unreadBytecode } from './bytecode.ts'

const CACHED = 'tests/__pycache__/test_a.cpython-312.pyc'

describe('bytecode beside the tests', () => {
  const isUnread = (run: readonly string[], scripts: Readonly<Record<string, string>> = {}): boolean => {
    const scene = checkScene()
    for (const [path, text] of Object.entries(scripts)) scene.write(path, text)
    const start = { root: scene.folder, cwd: scene.folder, run }
    return unreadBytecode(start, scene.env, Object.keys(scripts))(CACHED)
  }

  it.each([
    [['python3', '-m', 'pytest', '-q'], {}],
    [['uv', 'run', 'pytest'], {}],
    [['make', 'test'], {}],
    [['./check.sh'], { 'check.sh': '#!/bin/sh\nset -e\nexec python3 -B -m unittest\n' }],
    [['./check.sh'], { 'check.sh': '# docker does the same\nexport ENV=x; env | sort; env A=b pytest -i\n' }],
    [['python3', 'run.py'], { 'run.py': 'import docker\nfrom tox import x\n' }],
  ])('[CR6] is not read by %j %j', (run, scripts) => {
    expect(isUnread(run, scripts)).toBe(true)
  })

  it.each([
    [['python3', '-I', '-m', 'unittest'], {}],
    [['python3', '-B', '-sE', '-m', 'unittest'], {}],
    [['env', '-i', 'python3', 'a.py'], {}],
    [['tox'], {}],
    [['python3', '-m', 'tox', '-e', 'py312'], {}],
    [['uv', 'run', 'tox'], {}],
    [['docker', 'compose', 'run', 'app', 'pytest'], {}],
    [['./check.sh'], { 'check.sh': '#!/bin/sh\nexec env -i PATH="$PATH" python3 -B -m unittest\n' }],
    [['./check.sh'], { 'check.sh': 'cd app && .venv/bin/tox -q\n' }],
    [['./check.sh'], { 'check.sh': 'python3.12 -I -m unittest\n' }],
    [['./check.sh'], { 'check.sh': 'unset PYTHONPYCACHEPREFIX\npytest\n' }],
    [['npm', 'test'], { 'package.json': '{ "scripts": { "test": "tox" } }' }],
  ])('[CR6] is guarded where Python may read it: %j %j', (run, scripts) => {
    expect(isUnread(run, scripts)).toBe(false)
  })

  it('[CR6] is nothing else', () => {
    const scene = checkScene()
    const start = { root: scene.folder, cwd: scene.folder, run: ['pytest'] }
    expect(unreadBytecode(start, scene.env, [])('tests/test_a.py')).toBe(false)
    expect(unreadBytecode(start, { PYTHONPYCACHEPREFIX: '.cache' }, [])(CACHED)).toBe(false)
  })
})
