// Runsheet's plugin for OpenCode. Written by `runsheet setup opencode`; `--remove` takes it away.
// A stand-in: it only shows that it is loaded. The hooks of OpenCode replace this file.

const SETTINGS = { program: ['runsheet'], features: ['gate', 'evidence', 'digest'] }

export const Runsheet = async () => {
  globalThis.runsheetSettings = SETTINGS
  return {}
}
