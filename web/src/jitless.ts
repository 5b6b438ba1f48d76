// Imported before anything else: zod tries `new Function` once, which the content security policy reports.
import { config } from "zod/v4";

config({ jitless: true });
