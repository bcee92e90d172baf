// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
package applications;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.Index;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** A web service as there are many: Spring Boot, Tomcat, Hibernate, H2 in memory. <pre>Spring [virtual]</pre> */
@SpringBootApplication
@EnableJpaRepositories(considerNestedRepositories = true)
public class Spring {
  private static final int ORDERS = 1000;

  public static void main(String[] args) throws Exception {
    SpringApplication application = new SpringApplication(Spring.class);
    Map<String, Object> properties = new HashMap<>();
    properties.put("server.port", "0");
    properties.put("server.address", "127.0.0.1");
    properties.put("server.tomcat.threads.max", "16");
    properties.put("server.tomcat.max-keep-alive-requests", "-1");
    properties.put("spring.datasource.url", "jdbc:h2:mem:shop;DB_CLOSE_ON_EXIT=FALSE");
    properties.put("spring.jpa.hibernate.ddl-auto", "create");
    properties.put("spring.jpa.open-in-view", "false");
    properties.put("spring.main.banner-mode", "off");
    properties.put("spring.threads.virtual.enabled", args.length > 0 && args[0].equals("virtual"));
    properties.put("logging.level.root", "warn");
    application.setDefaultProperties(properties);
    var context = (ServletWebServerApplicationContext) application.run();
    context.getBean(Shop.class).fill(ORDERS);
    Harness.serve(Integer.toString(context.getWebServer().getPort()));
  }

  @Entity(name = "PurchaseOrder")
  @Table(indexes = @Index(columnList = "customer"))
  public static class Order {
    @Id @GeneratedValue private Long id;
    private String customer;
    private int total;

    @OneToMany(cascade = CascadeType.ALL, fetch = FetchType.LAZY)
    private List<Line> lines = new ArrayList<>();

    protected Order() {}

    Order(int number) {
      customer = "customer " + number % 97;
      for (int i = 0; i <= number % 5; ++i) {
        lines.add(new Line("article " + (number * 31 + i) % 211, 1 + i, 199 + number));
        total += (1 + i) * (199 + number);
      }
    }
  }

  @Entity
  public static class Line {
    @Id @GeneratedValue private Long id;
    private String article;
    private int pieces;
    private int price;

    protected Line() {}

    Line(String article, int pieces, int price) {
      this.article = article;
      this.pieces = pieces;
      this.price = price;
    }
  }

  public interface Orders extends JpaRepository<Order, Long> {
    List<Order> findByCustomerOrderByTotalDesc(String customer, PageRequest page);
  }

  public record Row(String article, int pieces, int price) {}

  public record Answer(long id, String customer, int total, List<Row> lines) {}

  @Service
  public static class Shop {
    private final Orders orders;

    Shop(Orders orders) {
      this.orders = orders;
    }

    @Transactional
    public void fill(int count) {
      for (int number = 0; number < count; ++number) {
        orders.save(new Order(number));
      }
    }

    @Transactional(readOnly = true)
    public Answer order(long id) {
      return answer(orders.findById(id % ORDERS + 1).orElseThrow());
    }

    @Transactional(readOnly = true)
    public List<Answer> best(int customer) {
      return orders.findByCustomerOrderByTotalDesc("customer " + customer % 97, PageRequest.of(0, 5)).stream()
          .map(Shop::answer)
          .toList();
    }

    @Transactional
    public Answer changed(long id) {
      Order order = orders.findById(id % ORDERS + 1).orElseThrow();
      order.total = order.lines.stream().mapToInt(line -> line.pieces * line.price).sum() + (int) (id % 2);
      return answer(order);
    }

    private static Answer answer(Order order) {
      return new Answer(
          order.id,
          order.customer,
          order.total,
          order.lines.stream().map(line -> new Row(line.article, line.pieces, line.price)).toList());
    }
  }

  @RestController
  public static class Counter {
    private final Shop shop;

    Counter(Shop shop) {
      this.shop = shop;
    }

    @GetMapping("/orders/{id}")
    public Answer order(@PathVariable("id") long id) {
      return shop.order(id);
    }

    @GetMapping("/customers/{customer}/best")
    public List<Answer> best(@PathVariable("customer") int customer) {
      return shop.best(customer);
    }

    /** In a thread of its own, which ends with the answer. */
    @GetMapping("/orders/{id}/aside")
    public CompletableFuture<Answer> aside(@PathVariable("id") long id) {
      return CompletableFuture.supplyAsync(() -> shop.order(id), new SimpleAsyncTaskExecutor("aside-"));
    }

    @GetMapping("/orders/{id}/again")
    public Answer changed(@PathVariable("id") long id) {
      return shop.changed(id);
    }
  }
}
