import { browserFor } from './browser.ts'
import type { Environment } from './clean-environment.ts'
import type { DataFolder } from './data-folder.ts'
import { DEFAULT_CONFIG } from './default-paths.ts'
import { programFile, urlCommand } from './invocation.ts'
import { PageServer } from './page-server.ts'
import { signInLink } from './url.ts'
import { fixedPort, fixPort } from './usual-port.ts'

export interface PageOptions {
  readonly environment: Environment
  readonly invocation: string
  readonly token?: string
}

/** Long enough to sign in; the next start of the host serves the page again on the same port. */
const IDLE_EXIT = '30m'

/** Starts the page unless it runs. The first time it also fixes the port and signs a browser in. */
export async function openPageOnce(folder: DataFolder, options: PageOptions): Promise<void> {
  const { environment, invocation, token } = options
  const data = folder.path
  const said: string[] = []
  const page = new PageServer(
    folder,
    {
      environment,
      invocation,
      ...(token === undefined ? {} : { token }),
      store: environment['RUNSHEET_STORE'] ?? 'sqlite',
      config: { file: DEFAULT_CONFIG, by: 'default' },
      idleExit: environment['RUNSHEET_IDLE_EXIT'] ?? IDLE_EXIT,
      program: [programFile()],
    },
    line => said.push(line),
  )
  // The start waits on unref'd timers, which do not keep the process alive.
  const alive = setInterval(() => {}, 1_000)
  const note = await page.ready().finally(() => clearInterval(alive))
  if (!note) return said.forEach(line => console.error(line))
  if (fixedPort(data) !== undefined) {
    return console.log(`The page: ${note.url} (for a sign-in link: ${urlCommand(invocation, data)})`)
  }
  fixPort(data, Number(new URL(note.local).port))
  const link = await signInLink({ data, environment, invocation, ...(token === undefined ? {} : { token }) })
  const open = environment['RUNSHEET_BROWSER'] === 'off' ? undefined : browserFor(environment)
  open?.(link)
  console.log(
    open
      ? `The page opens in your browser and signs it in: ${note.url}`
      : `Open this once, to sign your browser in: ${link}`,
  )
}
