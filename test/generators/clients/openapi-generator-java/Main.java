import java.io.IOException;
import java.math.BigDecimal;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.ForecastViewsApi;
import org.openapitools.client.api.PurchaseOrdersApi;
import org.openapitools.client.model.CatalogueLineInput;
import org.openapitools.client.model.ConfirmAll;
import org.openapitools.client.model.ErrorAnswer;
import org.openapitools.client.model.Fault;
import org.openapitools.client.model.PurchaseOrder;
import org.openapitools.client.model.PurchaseOrderConfirmBody;
import org.openapitools.client.model.PurchaseOrderCreateBody;
import org.openapitools.client.model.PurchaseOrderStatus;
import org.openapitools.client.model.PurchaseOrderStatusBody;

/** The calls of the check in Java, with the client that openapi-generator makes for its default library. */
public final class Main {
  private static final BigDecimal EXACT = new BigDecimal("1234.5678");

  public static void main(String[] arguments) throws ApiException, IOException {
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("OPENPO_URL"));
    client.setBearerToken(System.getenv("OPENPO_API_KEY"));
    PurchaseOrdersApi orders = new PurchaseOrdersApi(client);
    ForecastViewsApi forecasts = new ForecastViewsApi(client);

    var listed = orders.purchaseOrderList()
        .status(List.of(PurchaseOrderStatus.DRAFT, PurchaseOrderStatus.PARTIALLY_RECEIVED))
        .dateFrom("2020-01-01")
        .execute();
    check(listed.getData().getTotalCount() == 2, "list");

    var line = new CatalogueLineInput().variantId("red").quantityOrdered(new BigDecimal(2)).unitCost(EXACT);
    var body = new PurchaseOrderCreateBody().supplierId("mill").locationId("warehouse").lineItems(List.of(line));
    PurchaseOrder order = orders.purchaseOrderCreate().purchaseOrderCreateBody(body).execute().getData().getPurchaseOrder();
    check(order.getLineItems().get(0).getUnitCost().compareTo(EXACT) == 0, "exact money");
    String id = order.getPurchaseOrderId();

    var sent = orders.purchaseOrderStatus(id, new PurchaseOrderStatusBody().status(PurchaseOrderStatus.SENT)).execute();
    check(sent.getData().getTransition().getTo() == PurchaseOrderStatus.SENT, "send");

    var confirmed = orders.purchaseOrderConfirm(id, confirmAll(true)).execute();
    check(confirmed.getData().getPurchaseOrder().getStatus() == PurchaseOrderStatus.IN_PROGRESS, "confirm all");

    try {
      orders.purchaseOrderConfirm(id, confirmAll(false)).execute();
      check(false, "refusal");
    } catch (ApiException exception) {
      Fault refused = ErrorAnswer.fromJson(exception.getResponseBody()).getError();
      check(refused.getCode() == Fault.CodeEnum.INVALID_INPUT, "refusal");
      check(refused.getDetails().get(0).getFieldDetail().getPath().equals("/confirmAll"), "detail");
    }

    var forecast = forecasts.forecastViewRows("view_1").execute();
    check(forecast.getData().getRows().get(0).getAdditionalProperty("onHand") instanceof Number, "figure");

    System.out.println("done");
  }

  private static PurchaseOrderConfirmBody confirmAll(boolean value) {
    return new PurchaseOrderConfirmBody(new ConfirmAll().confirmAll(value));
  }

  private static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }
}
