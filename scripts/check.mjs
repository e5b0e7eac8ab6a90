import { spawn } from 'node:child_process'

// Everything `npm test` runs before the tests, in parallel. The examples typecheck against the build.
const CHECKS = ['npm run -s typecheck', 'npm run -s lint', 'npm run -s build && tsc -p tsconfig.examples.json']

// The compiler and the linter are Go programs that spend half their time in GC; trade memory for time.
const env = { GOGC: '400', ...process.env }

/** Prints a check's output when it ends, so that outputs do not interleave; resolves with its exit code. */
function run(command) {
  return new Promise(resolve => {
    const output = []
    const child = spawn(command, { shell: true, env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => output.push(chunk))
    child.on('close', code => {
      process.stdout.write(Buffer.concat(output))
      resolve(code ?? 1)
    })
  })
}

const codes = await Promise.all(CHECKS.map(run))
for (const [index, code] of codes.entries()) if (code !== 0) console.error(`failed: ${CHECKS[index]}`)
process.exitCode = codes.some(Boolean) ? 1 : 0
