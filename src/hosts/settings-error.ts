/** A settings file that cannot be read or merged. The message omits the file's name; callers add it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}
