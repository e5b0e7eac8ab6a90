#!/usr/bin/env node
import { runProgram } from './program.ts'

// A reader such as `head` may close the pipe. The work continues without output; `mcp` handles it itself.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
}

await runProgram({ argv: process.argv, execArgv: process.execArgv, environment: process.env })
