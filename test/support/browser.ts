import { accessSync, constants, existsSync, mkdirSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const NAMED_BY = ['CHROME_PATH', 'CHROME_BIN', 'PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH']
const NAMES = ['chrome-headless-shell', 'google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser']

/** A real browser: from the environment, installed, or from npm. */
export async function openBrowser(): Promise<Browser> {
  const { executablePath, env } = installed() ?? (await fromNpm())
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu'],
    // Playwright puts shared memory into files, because /dev/shm is too small in many containers. Each request needs some.
    ignoreDefaultArgs: hasSharedMemory() ? ['--disable-dev-shm-usage'] : [],
    // Without a locale, downloads lose the names that are not ASCII.
    env: { ...(env ?? environment()), LC_ALL: 'C.UTF-8' },
  })
}

function hasSharedMemory(): boolean {
  if (!existsSync('/dev/shm')) return false
  const { bavail, bsize } = statfsSync('/dev/shm')
  return bavail * bsize > 2 ** 30
}

interface Found {
  readonly executablePath: string
  readonly env?: Record<string, string>
}

function installed(): Found | undefined {
  const named = NAMED_BY.map(name => process.env[name]).find(Boolean)
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)
  const candidates = [chromium.executablePath(), ...NAMES.flatMap(name => folders.map(folder => join(folder, name)))]
  const executablePath = named ?? candidates.find(isExecutable)
  return executablePath === undefined ? undefined : { executablePath }
}

/** Unpacked once and renamed when complete, since several workers may unpack at the same time. */
async function fromNpm(): Promise<Found> {
  const { resolve } = createRequire(import.meta.url)
  const root = dirname(dirname(resolve('@sparticuz/chromium')))
  const folder = join(root, '..', '..', '.cache', 'runsheet-chromium')
  if (!existsSync(folder)) await unpack(root, folder)
  const libraries = join(folder, 'al2023', 'lib')
  const fonts = existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_FILE: join(folder, 'fonts', 'fonts.conf') }
  const env = environment()
  const path = [env['LD_LIBRARY_PATH'], libraries].filter(Boolean).join(':')
  return { executablePath: join(folder, 'chromium'), env: { ...env, LD_LIBRARY_PATH: path, ...fonts } }
}

const environment = (): Record<string, string> =>
  Object.fromEntries(Object.entries(process.env).flatMap(([key, value]) => (value ? [[key, value]] : [])))

async function unpack(root: string, folder: string): Promise<void> {
  const mine = `${folder}.${process.pid}`
  const { TMPDIR } = process.env
  mkdirSync(mine, { recursive: true })
  process.env['TMPDIR'] = mine
  try {
    const { default: shipped, inflate } = await import('@sparticuz/chromium')
    await Promise.all([shipped.executablePath(), inflate(join(root, 'bin', 'al2023.tar.br'))])
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
  }
  // The bundled configuration names another folder.
  const config = `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${join(folder, 'fonts')}</dir><dir>/usr/share/fonts</dir></fontconfig>`
  writeFileSync(join(mine, 'fonts', 'fonts.conf'), config)
  try {
    renameSync(mine, folder)
  } catch (error) {
    rmSync(mine, { recursive: true })
    if (!existsSync(folder)) throw error
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
