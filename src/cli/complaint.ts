/** What is wrong with how we were called or where we are: one line for a person, no stack. */
export class Complaint extends Error {
  override readonly name = 'Complaint'
}
