import { spawn } from 'node:child_process'
import { cleanEnvironment, type Environment } from './clean-environment.ts'

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  // Not `start`: cmd would interpret the `&` of a URL.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Variables that a browser needs to find the desktop. */
const DESKTOP = /^(DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|BROWSER|DESKTOP_SESSION|(XDG|DBUS|KDE|GNOME|MATE|WSL)_.*|WSLENV)$/

/** Undefined without a local browser: no display, SSH or CI. */
export function browserFor(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): ((url: string) => void) | undefined {
  if (!hasDisplay(environment, platform)) return undefined
  const chosen = environment['BROWSER']
  const [command = 'xdg-open', ...args] = chosen ? [chosen] : (OPENERS[platform] ?? [])
  const desktop = Object.entries(environment).filter(([name]) => DESKTOP.test(name))
  const env = { ...cleanEnvironment(environment, platform), ...Object.fromEntries(desktop) }
  return url => {
    const child = spawn(command, [...args, url], { detached: true, stdio: 'ignore', windowsHide: true, env })
    // Without an opener the user still has the printed URL.
    child.once('error', () => {}).unref()
  }
}

function hasDisplay(environment: Environment, platform: NodeJS.Platform): boolean {
  if (['SSH_CONNECTION', 'SSH_CLIENT', 'SSH_TTY', 'CI'].some(name => environment[name])) return false
  if (platform in OPENERS) return true
  return Boolean(environment['DISPLAY'] || environment['WAYLAND_DISPLAY'])
}
