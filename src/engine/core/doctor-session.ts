/** The sessions that `hookhelm doctor` makes begin with this text, so that listings can leave them out. */
export const DOCTOR_SESSION_PREFIX = 'hookhelm-doctor-'
