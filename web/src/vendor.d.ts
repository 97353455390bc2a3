// Modules that come without types.
declare module "swagger-ui-dist/swagger-ui-es-bundle" {
  interface SwaggerRequest {
    headers?: Record<string, string>;
  }
  interface SwaggerOptions {
    url: string;
    dom_id: string;
    deepLinking?: boolean;
    requestInterceptor?: (request: SwaggerRequest) => SwaggerRequest;
  }
  export default function SwaggerUI(options: SwaggerOptions): unknown;
}
