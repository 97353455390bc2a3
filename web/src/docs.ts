// The API's description with a form for every call; the session's cookie signs the requests.
import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle";
import "swagger-ui-dist/swagger-ui.css";

async function csrf(): Promise<string | null> {
  const answer = await fetch("/session");
  return ((await answer.json()) as { csrf: string | null }).csrf;
}

const proof = await csrf();
SwaggerUI({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  requestInterceptor: (request) => {
    if (proof) request.headers = { ...request.headers, "X-CSRF-Token": proof };
    return request;
  },
});
